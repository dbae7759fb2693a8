// SPDX-License-Identifier: MPL-2.0
// What Embedded Swift expects of its surroundings, for a WebAssembly module that runs once: memory is never given back.
#include <stddef.h>
#include <stdint.h>

#define WASI(name) __attribute__((import_module("wasi_snapshot_preview1"), import_name(#name)))

typedef struct {
  const void *bytes;
  size_t count;
} Piece;

WASI(fd_read) int32_t fd_read(int32_t file, const Piece *pieces, size_t count, size_t *done);
WASI(fd_write) int32_t fd_write(int32_t file, const Piece *pieces, size_t count, size_t *done);

long read_input(void *bytes, size_t capacity) {
  size_t done = 0;
  return fd_read(0, &(Piece){bytes, capacity}, 1, &done) == 0 ? (long)done : 0;
}

void write_output(const void *bytes, size_t count) {
  size_t done;
  fd_write(1, &(Piece){bytes, count}, 1, &done);
}

extern unsigned char __heap_base;

int posix_memalign(void **memory, size_t alignment, size_t size) {
  static uintptr_t top;
  if (!top) top = (uintptr_t)&__heap_base;
  uintptr_t start = (top + alignment - 1) & ~(uintptr_t)(alignment - 1);
  top = start + size;
  uintptr_t end = __builtin_wasm_memory_size(0) * 65536;
  if (top > end && __builtin_wasm_memory_grow(0, (top - end + 65535) / 65536) == (size_t)-1) return 12;
  *memory = (void *)start;
  return 0;
}

void free(void *memory) { (void)memory; }

void *memmove(void *to, const void *from, size_t count) {
  unsigned char *target = to;
  const unsigned char *source = from;
  if (target < source) {
    for (size_t i = 0; i < count; i++) target[i] = source[i];
  } else {
    while (count--) target[count] = source[count];
  }
  return to;
}

void *memcpy(void *to, const void *from, size_t count) { return memmove(to, from, count); }

void *memset(void *memory, int value, size_t count) {
  for (size_t i = 0; i < count; i++) ((unsigned char *)memory)[i] = (unsigned char)value;
  return memory;
}

int memcmp(const void *left, const void *right, size_t count) {
  const unsigned char *a = left, *b = right;
  for (size_t i = 0; i < count; i++) {
    if (a[i] != b[i]) return a[i] - b[i];
  }
  return 0;
}

// Dictionaries ask for a seed.
void arc4random_buf(void *bytes, size_t count) { memset(bytes, 4, count); }

// The messages of traps, byte by byte.
int putchar(int byte) {
  size_t done;
  fd_write(2, &(Piece){&(unsigned char){(unsigned char)byte}, 1}, 1, &done);
  return byte;
}

// Swift guards the stack frames of functions that hand out pointers.
uintptr_t __stack_chk_guard = 0x5AFE57AC;
_Noreturn void __stack_chk_fail(void) { __builtin_trap(); }

// Products of 128 bits: WebAssembly multiplies 64.
__int128 __multi3(__int128 left, __int128 right) {
  uint64_t a = (uint64_t)left, b = (uint64_t)right;
  uint64_t low = (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF);
  uint64_t middle = (a >> 32) * (b & 0xFFFFFFFF) + (low >> 32);
  uint64_t other = (a & 0xFFFFFFFF) * (b >> 32) + (middle & 0xFFFFFFFF);
  uint64_t high = (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32) + a * (uint64_t)(right >> 64) +
                  (uint64_t)(left >> 64) * b;
  return (__int128)((unsigned __int128)high << 64 | (other << 32 | (low & 0xFFFFFFFF)));
}
