// SPDX-License-Identifier: MPL-2.0
// Buffers: parameters, slices and the samples of images.

#include "driver.h"

#include <string.h>

struct Buffer *newBuffer(struct Driver *driver, VABufferType type, unsigned size, unsigned number,
                         struct Memory *memory) {
  struct Buffer *buffer = newObject(driver, bufferObject, sizeof *buffer);
  if (!buffer) return NULL;
  buffer->type = type;
  buffer->elementSize = size;
  buffer->elementCount = buffer->capacity = number;
  buffer->memory = memory;
  return buffer;
}

static VAStatus createBuffer(VADriverContextP va, VAContextID contextID, VABufferType type, unsigned size,
                             unsigned number, void *data, VABufferID *id) {
  if (size == 0 || number == 0 || (uint64_t)size * number > 1 << 30) return VA_STATUS_ERROR_INVALID_PARAMETER;
  struct Driver *driver = enter(va);
  if (!findContext(driver, contextID)) return leave(driver, VA_STATUS_ERROR_INVALID_CONTEXT);
  if (type == VASliceDataBufferType && firesAfter(driver, lostSlice, &driver->sliceCount)) {
    return leave(driver, VA_STATUS_ERROR_ALLOCATION_FAILED);
  }
  struct Memory *memory = newMemory((size_t)size * number);
  struct Buffer *buffer = memory ? newBuffer(driver, type, size, number, memory) : NULL;
  if (!buffer) {
    release(memory);
    return leave(driver, VA_STATUS_ERROR_ALLOCATION_FAILED);
  }
  if (data) memcpy(memory->bytes, data, memory->size);
  *id = buffer->object.id;
  return leave(driver, VA_STATUS_SUCCESS);
}

static VAStatus bufferSetNumElements(VADriverContextP va, VABufferID id, unsigned number) {
  struct Driver *driver = enter(va);
  struct Buffer *buffer = find(driver, id, bufferObject);
  if (!buffer) return leave(driver, VA_STATUS_ERROR_INVALID_BUFFER);
  if (number > buffer->capacity) return leave(driver, VA_STATUS_ERROR_INVALID_PARAMETER);
  buffer->elementCount = number;
  return leave(driver, VA_STATUS_SUCCESS);
}

static VAStatus mapBuffer(VADriverContextP va, VABufferID id, void **out) {
  struct Driver *driver = enter(va);
  struct Buffer *buffer = find(driver, id, bufferObject);
  if (!buffer) return leave(driver, VA_STATUS_ERROR_INVALID_BUFFER);
  *out = buffer->memory->bytes;
  bool isImage = buffer->isImage;
  leave(driver, VA_STATUS_SUCCESS);
  if (isImage) delayDownload(driver);
  return VA_STATUS_SUCCESS;
}

#if VA_CHECK_VERSION(1, 21, 0)
static VAStatus mapBufferFor(VADriverContextP va, VABufferID id, void **bytes, uint32_t flags) {
  (void)flags;
  return mapBuffer(va, id, bytes);
}
#endif

static VAStatus unmapBuffer(VADriverContextP va, VABufferID id) {
  struct Driver *driver = enter(va);
  bool exists = find(driver, id, bufferObject) != NULL;
  return leave(driver, exists ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_BUFFER);
}

static VAStatus destroyBuffer(VADriverContextP va, VABufferID id) {
  struct Driver *driver = enter(va);
  struct Buffer *buffer = find(driver, id, bufferObject);
  if (!buffer) return leave(driver, VA_STATUS_ERROR_INVALID_BUFFER);
  destroy(driver, &buffer->object);
  return leave(driver, VA_STATUS_SUCCESS);
}

static VAStatus bufferInfo(VADriverContextP va, VABufferID id, VABufferType *type, unsigned *size,
                           unsigned *number) {
  struct Driver *driver = enter(va);
  struct Buffer *buffer = find(driver, id, bufferObject);
  if (!buffer) return leave(driver, VA_STATUS_ERROR_INVALID_BUFFER);
  *type = buffer->type;
  *size = buffer->elementSize;
  *number = buffer->elementCount;
  return leave(driver, VA_STATUS_SUCCESS);
}

void setBufferFunctions(struct VADriverVTable *table) {
  table->vaCreateBuffer = createBuffer;
  table->vaBufferSetNumElements = bufferSetNumElements;
  table->vaMapBuffer = mapBuffer;
#if VA_CHECK_VERSION(1, 21, 0)
  table->vaMapBuffer2 = mapBufferFor;
#endif
  table->vaUnmapBuffer = unmapBuffer;
  table->vaDestroyBuffer = destroyBuffer;
  table->vaBufferInfo = bufferInfo;
}
