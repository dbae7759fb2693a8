// SPDX-License-Identifier: MPL-2.0

// Locks that the thread sanitizer does not see: GLib's mutexes and Swift's Mutex wait by futex, in libraries
// that are built without it, so that accesses under the lock would be reported as races. Each function here replaces
// the library's, calls it, and reports acquire and release to the sanitizer. Nothing is suppressed:
// accesses without a lock are still reported. Test programs built without the sanitizer do not contain this.
//
// C, because a definition must have the name and calling convention of the function that it replaces.

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#include <sanitizer/tsan_interface.h>

// Opaque here, since GLib's headers declare some of these names as macros.
typedef struct Mutex Mutex;
typedef struct Condition Condition;
typedef struct Queue Queue;

// The library's own definition, which follows this program's in the search order. Threads that look it up at
// the same time find the same.
#define NEXT(name, type)                                  \
  static void *found;                                     \
  void *next = __atomic_load_n(&found, __ATOMIC_RELAXED); \
  if (next == NULL) {                                     \
    next = dlsym(RTLD_NEXT, name);                        \
    __atomic_store_n(&found, next, __ATOMIC_RELAXED);     \
  }                                                       \
  __typeof__(type) original = (__typeof__(type))next

// GMutex.

void g_mutex_lock(Mutex *mutex) {
  NEXT("g_mutex_lock", void (*)(Mutex *));
  original(mutex);
  __tsan_acquire(mutex);
}

int g_mutex_trylock(Mutex *mutex) {
  NEXT("g_mutex_trylock", int (*)(Mutex *));
  int locked = original(mutex);
  if (locked) __tsan_acquire(mutex);
  return locked;
}

void g_mutex_unlock(Mutex *mutex) {
  NEXT("g_mutex_unlock", void (*)(Mutex *));
  __tsan_release(mutex);
  original(mutex);
}

// GCond releases its mutex and acquires it again.

void g_cond_wait(Condition *condition, Mutex *mutex) {
  NEXT("g_cond_wait", void (*)(Condition *, Mutex *));
  __tsan_release(mutex);
  original(condition, mutex);
  __tsan_acquire(mutex);
}

int g_cond_wait_until(Condition *condition, Mutex *mutex, int64_t end) {
  NEXT("g_cond_wait_until", int (*)(Condition *, Mutex *, int64_t));
  __tsan_release(mutex);
  int signalled = original(condition, mutex, end);
  __tsan_acquire(mutex);
  return signalled;
}

// GAsyncQueue locks inside GLib, whose calls cannot be replaced. The harness passes buffers through it.

void g_async_queue_push(Queue *queue, void *item) {
  NEXT("g_async_queue_push", void (*)(Queue *, void *));
  __tsan_release(queue);
  original(queue, item);
}

#define POP(name, parameters, arguments, type) \
  void *name parameters {                      \
    NEXT(#name, type);                         \
    void *item = original arguments;           \
    if (item != NULL) __tsan_acquire(queue);   \
    return item;                               \
  }

POP(g_async_queue_pop, (Queue * queue), (queue), void *(*)(Queue *))
POP(g_async_queue_try_pop, (Queue * queue), (queue), void *(*)(Queue *))
POP(g_async_queue_timeout_pop, (Queue * queue, uint64_t timeout), (queue, timeout), void *(*)(Queue *, uint64_t))

// Swift's Mutex: its uncontended path is inlined into instrumented code and seen; these are the contended ones.

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *mutex

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK_SLOW "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lockSlow(uint32_t thread, SELF) __asm__(LOCK_SLOW);
SWIFT void lockSlow(uint32_t thread, SELF) {
  NEXT(LOCK_SLOW, SWIFT void (*)(uint32_t, SELF));
  original(thread, mutex);
  __tsan_acquire(mutex);
}

SWIFT _Bool tryLockSlow(SELF) __asm__(TRY_LOCK_SLOW);
SWIFT _Bool tryLockSlow(SELF) {
  NEXT(TRY_LOCK_SLOW, SWIFT _Bool (*)(SELF));
  _Bool locked = original(mutex);
  if (locked) __tsan_acquire(mutex);
  return locked;
}

SWIFT void unlockSlow(SELF) __asm__(UNLOCK_SLOW);
SWIFT void unlockSlow(SELF) {
  NEXT(UNLOCK_SLOW, SWIFT void (*)(SELF));
  __tsan_release(mutex);
  original(mutex);
}

#endif
#endif
