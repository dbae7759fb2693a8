// SPDX-License-Identifier: MPL-2.0
// Surfaces, without their contents.

#include "driver.h"

static struct Surface *newSurface(struct Driver *driver, const struct Layout *layout) {
  struct Memory *memory = newMemory(layout->size);
  struct Surface *surface = memory ? newObject(driver, surfaceObject, sizeof *surface) : NULL;
  if (!surface) {
    release(memory);
    return NULL;
  }
  surface->layout = *layout;
  surface->memory = memory;
  surface->context = VA_INVALID_ID;
  driver->surfaceCount++;
  count(&driver->state->liveSurfaces, 1);
  return surface;
}

static VAStatus createSurfaces2(VADriverContextP va, unsigned format, unsigned width, unsigned height,
                                VASurfaceID *ids, unsigned number, VASurfaceAttrib *attributes,
                                unsigned attributeCount) {
  uint32_t fourcc = 0;
  if (format & VA_RT_FORMAT_YUV420) fourcc = VA_FOURCC_NV12;
  if (format & VA_RT_FORMAT_YUV420_10) fourcc = VA_FOURCC_P010;
  if (!fourcc) return VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT;
  for (unsigned i = 0; attributes && i < attributeCount; i++) {
    if (!(attributes[i].flags & VA_SURFACE_ATTRIB_SETTABLE)) continue;
    uint32_t value = (uint32_t)attributes[i].value.value.i;
    if (attributes[i].type == VASurfaceAttribPixelFormat) fourcc = value;
    // DRM PRIME is for export alone.
    if (attributes[i].type == VASurfaceAttribMemoryType && value != VA_SURFACE_ATTRIB_MEM_TYPE_VA) {
      return VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE;
    }
  }
  if (!isPixelFormat(fourcc)) return VA_STATUS_ERROR_INVALID_IMAGE_FORMAT;
  if (!isSize(width, height)) return VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED;

  struct Driver *driver = enter(va);
  if ((width > 16 || height > 16) && fires(driver, refusedSize)) {
    return leave(driver, VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED);
  }
  bool areMany = (uint64_t)driver->surfaceCount + number > current(&driver->state->parameter);
  if (areMany && fires(driver, fewSurfaces)) {
    return leave(driver, VA_STATUS_ERROR_ALLOCATION_FAILED);
  }
  struct Layout layout = layoutOf(fourcc, width, height);
  for (unsigned i = 0; i < number; i++) {
    struct Surface *surface = newSurface(driver, &layout);
    if (!surface) {
      while (i--) destroy(driver, find(driver, ids[i], surfaceObject));
      return leave(driver, VA_STATUS_ERROR_ALLOCATION_FAILED);
    }
    ids[i] = surface->object.id;
  }
  return leave(driver, VA_STATUS_SUCCESS);
}

static VAStatus createSurfaces(VADriverContextP va, int width, int height, int format, int number,
                               VASurfaceID *ids) {
  if (number < 0) return VA_STATUS_ERROR_INVALID_PARAMETER;
  return createSurfaces2(va, (unsigned)format, (unsigned)width, (unsigned)height, ids, (unsigned)number, NULL,
                         0);
}

static VAStatus destroySurfaces(VADriverContextP va, VASurfaceID *ids, int number) {
  struct Driver *driver = enter(va);
  VAStatus status = VA_STATUS_SUCCESS;
  for (int i = 0; i < number; i++) {
    struct Surface *surface = find(driver, ids[i], surfaceObject);
    if (surface) destroy(driver, &surface->object);
    else status = VA_STATUS_ERROR_INVALID_SURFACE;
  }
  return leave(driver, status);
}

// A picture is in its surface when vaEndPicture returns, so that there is nothing to wait for.
static VAStatus syncSurface(VADriverContextP va, VASurfaceID id) {
  struct Driver *driver = enter(va);
  struct Surface *surface = find(driver, id, surfaceObject);
  if (!surface) return leave(driver, VA_STATUS_ERROR_INVALID_SURFACE);
  if (firesAt(driver, syncFailure, surface->entry)) {
    bool isBusy = current(&driver->state->parameter) != 0;
    return leave(driver, isBusy ? VA_STATUS_ERROR_HW_BUSY : VA_STATUS_ERROR_OPERATION_FAILED);
  }
  return leave(driver, VA_STATUS_SUCCESS);
}

static VAStatus syncSurface2(VADriverContextP va, VASurfaceID id, uint64_t timeout) {
  (void)timeout;
  return syncSurface(va, id);
}

static VAStatus querySurfaceStatus(VADriverContextP va, VASurfaceID id, VASurfaceStatus *surfaceStatus) {
  struct Driver *driver = enter(va);
  bool exists = find(driver, id, surfaceObject) != NULL;
  if (exists) *surfaceStatus = VASurfaceReady;
  return leave(driver, exists ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_SURFACE);
}

void setSurfaceFunctions(struct VADriverVTable *table) {
  table->vaCreateSurfaces = createSurfaces;
  table->vaCreateSurfaces2 = createSurfaces2;
  table->vaDestroySurfaces = destroySurfaces;
  table->vaSyncSurface = syncSurface;
  table->vaSyncSurface2 = syncSurface2;
  table->vaQuerySurfaceStatus = querySurfaceStatus;
}
