// SPDX-License-Identifier: MPL-2.0
// The faults that a test orders.

#include "driver.h"

#include <errno.h>
#include <time.h>

// Whether a fault of this kind is ordered and still to come; it then counts as fired.
bool fires(struct Driver *driver, enum FaultKind kind) {
  struct State *state = driver->state;
  if (current(&state->kind) != kind) return false;
  uint32_t remaining = current(&state->remaining);
  do {
    if (remaining == 0) return false;
    if (remaining == forEver) break;
  } while (!__atomic_compare_exchange_n(&state->remaining, &remaining, remaining - 1, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST));
  count(&state->fired, 1);
  return true;
}

// The same, for faults that a picture is chosen for. Both fields of a frame are its picture.
bool firesAt(struct Driver *driver, enum FaultKind kind, const struct Entry *entry) {
  uint32_t chosen = current(&driver->state->entry);
  if (chosen != anyPicture) {
    if (!entry || chosen >= driver->entryCount) return false;
    const struct Entry *wanted = driver->entries + chosen;
    if (wanted != entry && (wanted->offset != entry->offset || wanted->epoch != entry->epoch)) return false;
  }
  return fires(driver, kind);
}

// The same, for faults that come when `parameter` calls have passed.
bool firesAfter(struct Driver *driver, enum FaultKind kind, uint32_t *passed) {
  return (*passed)++ >= current(&driver->state->parameter) && fires(driver, kind);
}

void waitMilliseconds(uint32_t milliseconds) {
  struct timespec rest = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  while (nanosleep(&rest, &rest) == -1 && errno == EINTR) {}
}

// Called without the mutex: other calls go on meanwhile.
void delayDownload(struct Driver *driver) {
  if (fires(driver, slowDownload)) waitMilliseconds(current(&driver->state->parameter));
}
