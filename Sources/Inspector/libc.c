// SPDX-License-Identifier: MPL-2.0
// The functions of a C library that Swift's standard library calls: memory, and little else.
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

// Blocks of powers of two, from 32 bytes up, each after 16 bytes that hold its class (the exponent). Freed blocks are in
// a list for each class.
static void *freed[32];
static size_t top;

int posix_memalign(void **result, size_t alignment, size_t count) {
  (void)alignment; // Swift asks for 16 at most, which all blocks have.
  int class = 5;
  while (class < 31 && ((size_t)1 << class) < count + 16) class++;
  if (((size_t)1 << class) < count + 16) return 12;
  if (freed[class]) {
    void **block = freed[class];
    freed[class] = *block;
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
  *(void **)block = freed[class];
  freed[class] = block;
}

// The 128-bit product that overflow checks of 64-bit multiplications need; the compiler's runtime library is not
// available for this target.
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
// The seed of hashing: a constant, because dictionaries here need no protection from chosen keys.
void arc4random_buf(void *to, size_t count) { memset(to, 4, count); }
unsigned long __stack_chk_guard = 42;
void __stack_chk_fail(void) { __builtin_trap(); }
