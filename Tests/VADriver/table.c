// SPDX-License-Identifier: MPL-2.0
// The table of pictures: opening, and looking up.

#include "driver.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// The same slices may come in several coded video sequences: the one that is being decoded goes first, then
// those after it.
const struct Entry *findEntry(struct Driver *driver, uint64_t key, const struct Entry *last) {
  const struct Entry *first = NULL, *later = NULL;
  for (uint32_t i = driver->heads[key & driver->headMask]; i; i = driver->nexts[i - 1]) {
    const struct Entry *entry = driver->entries + (i - 1);
    if (entry->key != key) continue;
    if (last && entry->epoch == last->epoch) return entry;
    if (last && entry->epoch > last->epoch && !later) later = entry;
    if (!first) first = entry;
  }
  return later ? later : first;
}

static size_t sampleSize(const struct Entry *entry) {
  size_t luma = (size_t)entry->width * entry->height;
  size_t chroma = ((size_t)entry->width + 1) / 2 * (((size_t)entry->height + 1) / 2) * 2;
  return (luma + chroma) * entry->bytesPerSample;
}

// A leading picture of an open GOP may refer to the sequence before its own. And where two sequences hold the
// same picture, the surface may have got the other one's: it will do if the samples are the same.
bool isOfEpoch(struct Driver *driver, const struct Entry *held, uint32_t epoch) {
  if (held->epoch == epoch || held->epoch + 1 == epoch) return true;
  for (uint32_t i = driver->heads[held->key & driver->headMask]; i; i = driver->nexts[i - 1]) {
    const struct Entry *entry = driver->entries + (i - 1);
    if (entry->key != held->key || (entry->epoch != epoch && entry->epoch + 1 != epoch)) continue;
    const uint8_t *samples = driver->table + entry->offset, *heldSamples = driver->table + held->offset;
    size_t size = sampleSize(entry);
    if (size == sampleSize(held) && memcmp(samples, heldSamples, size) == 0) return true;
  }
  return false;
}

// Maps a whole file; NULL if that fails or the file is too small.
void *mapFile(const char *path, bool isShared, size_t smallest, size_t *size) {
  int file = open(path, (isShared ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (file < 0) return NULL;
  struct stat status;
  void *bytes = MAP_FAILED;
  if (fstat(file, &status) == 0 && status.st_size >= (off_t)smallest) {
    *size = isShared ? smallest : (size_t)status.st_size;
    int protection = isShared ? PROT_READ | PROT_WRITE : PROT_READ;
    bytes = mmap(NULL, *size, protection, isShared ? MAP_SHARED : MAP_PRIVATE, file, 0);
  }
  close(file);
  return bytes == MAP_FAILED ? NULL : bytes;
}

// Opens the table, checks all of it, and chains its entries by key. Without a table there are no entries.
bool openTable(struct Driver *driver, const char *path) {
  if (path) {
    driver->table = mapFile(path, false, sizeof(struct TableHeader), &driver->tableSize);
    if (!driver->table) return false;
    const struct TableHeader *header = (const void *)driver->table;
    size_t room = (driver->tableSize - sizeof *header) / sizeof(struct Entry);
    if (memcmp(header->magic, "VATABLE2", 8) != 0 || header->entryCount > room) return false;
    driver->entries = (const void *)(header + 1);
    driver->entryCount = header->entryCount;
  }
  driver->headMask = 63;
  while (driver->headMask < driver->entryCount) driver->headMask = driver->headMask * 2 + 1;
  driver->heads = calloc((size_t)driver->headMask + 1, sizeof *driver->heads);
  driver->nexts = calloc((size_t)driver->entryCount + 1, sizeof *driver->nexts);
  if (!driver->heads || !driver->nexts) return false;
  for (uint32_t i = driver->entryCount; i > 0; i--) {
    const struct Entry *entry = driver->entries + (i - 1);
    if (!isSize(entry->width, entry->height) || entry->bytesPerSample - 1 > 1) return false;
    if (entry->offset > driver->tableSize) return false;
    if (sampleSize(entry) > driver->tableSize - entry->offset) return false;
    uint32_t *head = driver->heads + (entry->key & driver->headMask);
    driver->nexts[i - 1] = *head;
    *head = i;
  }
  return true;
}
