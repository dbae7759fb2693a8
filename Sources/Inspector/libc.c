// SPDX-License-Identifier: MPL-2.0
// What Swift's standard library asks of a C library: memory, and little else.
typedef unsigned long size_t;
typedef unsigned char byte;
extern byte __heap_base;

void *memmove(void *to, const void *from, size_t count) { return __builtin_memmove(to, from, count); }
void *memcpy(void *to, const void *from, size_t count) { return __builtin_memcpy(to, from, count); }
void *memset(void *to, int value, size_t count) { return __builtin_memset(to, value, count); }
int memcmp(const void *left, const void *right, size_t count) {
  const byte *a = left, *b = right;
  for (size_t i = 0; i < count; i++)
    if (a[i] != b[i]) return a[i] - b[i];
  return 0;
}

// Blocks of powers of two, from 32 bytes up, with the class in 16 bytes in front; what is freed waits in its class.
static void *waiting[32];
static size_t top;

int posix_memalign(void **result, size_t alignment, size_t count) {
  (void)alignment; // 16 at most.
  int class = 5;
  while (class < 31 && ((size_t)1 << class) < count + 16) class++;
  if (((size_t)1 << class) < count + 16) return 12;
  if (waiting[class]) {
    void **block = waiting[class];
    waiting[class] = *block;
    *result = block;
    return 0;
  }
  if (!top) top = ((size_t)&__heap_base + 15) & ~(size_t)15;
  size_t end = top + ((size_t)1 << class), have = __builtin_wasm_memory_size(0) * 65536ul;
  if (end < top) return 12;
  if (end > have && __builtin_wasm_memory_grow(0, (end - have + 65535) / 65536) == (size_t)-1) return 12;
  *(int *)top = class;
  *result = (void *)(top + 16);
  top = end;
  return 0;
}

void free(void *block) {
  if (!block) return;
  int class = *(int *)((byte *)block - 16);
  *(void **)block = waiting[class];
  waiting[class] = block;
}

// What overflow checks of 64 bits multiply with, by parts of 32 bits: the compiler's own runtime is not for this target.
__int128 __multi3(__int128 left, __int128 right) {
  typedef unsigned long long wide;
  wide a = (wide)left, b = (wide)right, mask = 0xffffffff;
  wide low = (a & mask) * (b & mask), first = (a >> 32) * (b & mask) + (low >> 32);
  wide second = (a & mask) * (b >> 32) + (first & mask);
  wide high = (a >> 32) * (b >> 32) + (first >> 32) + (second >> 32);
  high += (wide)((unsigned __int128)left >> 64) * b + a * (wide)((unsigned __int128)right >> 64);
  return (__int128)((unsigned __int128)high << 64 | (second << 32 | (low & mask)));
}

__attribute__((weak)) int putchar(int character) { return character; }
// Hashing needs no secret here.
void arc4random_buf(void *to, size_t count) { memset(to, 4, count); }
unsigned long __stack_chk_guard = 42;
void __stack_chk_fail(void) { __builtin_trap(); }
