// SPDX-License-Identifier: MPL-2.0
// Contexts.

#include "driver.h"

static VAStatus createContext(VADriverContextP va, VAConfigID configID, int width, int height, int flag,
                              VASurfaceID *targets, int targetCount, VAContextID *id) {
  (void)flag;
  if (!isSize((unsigned)width, (unsigned)height)) return VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED;
  struct Driver *driver = enter(va);
  struct Config *config = find(driver, configID, configObject);
  if (!config) return leave(driver, VA_STATUS_ERROR_INVALID_CONFIG);
  for (int i = 0; targets && i < targetCount; i++) {
    if (!find(driver, targets[i], surfaceObject)) return leave(driver, VA_STATUS_ERROR_INVALID_SURFACE);
  }
  if ((width > 16 || height > 16) && fires(driver, refusedSize)) {
    return leave(driver, VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED);
  }
  // Counted before it is compared, so that of two processes only one gets the last context.
  struct State *state = driver->state;
  uint32_t others = __atomic_fetch_add(&state->liveContexts, 1, __ATOMIC_SEQ_CST);
  if (others >= current(&state->parameter) && fires(driver, tooManyContexts)) {
    count(&state->liveContexts, -1);
    return leave(driver, VA_STATUS_ERROR_MAX_NUM_EXCEEDED);
  }
  struct Context *context = newObject(driver, contextObject, sizeof *context);
  if (!context) {
    count(&state->liveContexts, -1);
    return leave(driver, VA_STATUS_ERROR_ALLOCATION_FAILED);
  }
  context->profile = config->profile;
  context->target = context->lastTarget = VA_INVALID_ID;
  *id = context->object.id;
  return leave(driver, VA_STATUS_SUCCESS);
}

// A lost context goes as well, although the call fails.
static VAStatus destroyContext(VADriverContextP va, VAContextID id) {
  struct Driver *driver = enter(va);
  struct Context *context = find(driver, id, contextObject);
  if (!context) return leave(driver, VA_STATUS_ERROR_INVALID_CONTEXT);
  bool wasLost = context->isLost;
  destroy(driver, &context->object);
  return leave(driver, wasLost ? VA_STATUS_ERROR_INVALID_CONTEXT : VA_STATUS_SUCCESS);
}

struct Context *findContext(struct Driver *driver, VAContextID id) {
  struct Context *context = find(driver, id, contextObject);
  return context && !context->isLost ? context : NULL;
}

void setContextFunctions(struct VADriverVTable *table) {
  table->vaCreateContext = createContext;
  table->vaDestroyContext = destroyContext;
}
