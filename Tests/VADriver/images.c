// SPDX-License-Identifier: MPL-2.0
// How samples leave a surface, and enter it: as images, or exported.

#include "driver.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const VAImageFormat imageFormats[] = {
    {.fourcc = VA_FOURCC_NV12, .byte_order = VA_LSB_FIRST, .bits_per_pixel = 12},
    {.fourcc = VA_FOURCC_P010, .byte_order = VA_LSB_FIRST, .bits_per_pixel = 24},
};
_Static_assert(sizeof imageFormats / sizeof *imageFormats == imageFormatCount, "every format is counted");

static VAStatus queryImageFormats(VADriverContextP va, VAImageFormat *list, int *number) {
  (void)va;
  memcpy(list, imageFormats, sizeof imageFormats);
  *number = imageFormatCount;
  return VA_STATUS_SUCCESS;
}

// Takes over the caller's hold on `memory`, even if it fails.
static VAStatus newImage(struct Driver *driver, const struct Layout *layout, struct Memory *memory,
                         VAImage *out) {
  if (!memory) return VA_STATUS_ERROR_ALLOCATION_FAILED;
  struct Buffer *buffer = newBuffer(driver, VAImageBufferType, layout->size, 1, memory);
  if (!buffer) {
    release(memory);
    return VA_STATUS_ERROR_ALLOCATION_FAILED;
  }
  buffer->isImage = true;
  struct Image *image = newObject(driver, imageObject, sizeof *image);
  if (!image) {
    destroy(driver, &buffer->object);
    return VA_STATUS_ERROR_ALLOCATION_FAILED;
  }
  image->layout = *layout;
  image->buffer = buffer->object.id;
  *out = (VAImage){.image_id = image->object.id, .buf = image->buffer};
  out->format = imageFormats[layout->fourcc == VA_FOURCC_P010];
  out->width = (uint16_t)layout->width;
  out->height = (uint16_t)layout->height;
  out->data_size = layout->size;
  out->num_planes = 2;
  out->pitches[0] = out->pitches[1] = layout->pitch;
  out->offsets[1] = layout->chromaOffset;
  return VA_STATUS_SUCCESS;
}

static VAStatus createImage(VADriverContextP va, VAImageFormat *format, int width, int height, VAImage *out) {
  if (!isPixelFormat(format->fourcc)) return VA_STATUS_ERROR_INVALID_IMAGE_FORMAT;
  if (!isSize((unsigned)width, (unsigned)height)) return VA_STATUS_ERROR_RESOLUTION_NOT_SUPPORTED;
  struct Driver *driver = enter(va);
  struct Layout layout = layoutOf(format->fourcc, (uint32_t)width, (uint32_t)height);
  return leave(driver, newImage(driver, &layout, newMemory(layout.size), out));
}

// The image's buffer is the surface's memory.
static VAStatus deriveImage(VADriverContextP va, VASurfaceID id, VAImage *out) {
  delayDownload(va->pDriverData);
  struct Driver *driver = enter(va);
  struct Surface *surface = find(driver, id, surfaceObject);
  if (!surface) return leave(driver, VA_STATUS_ERROR_INVALID_SURFACE);
  count(&driver->state->downloads, 1);
  return leave(driver, newImage(driver, &surface->layout, retain(surface->memory), out));
}

static VAStatus destroyImage(VADriverContextP va, VAImageID id) {
  struct Driver *driver = enter(va);
  struct Image *image = find(driver, id, imageObject);
  if (!image) return leave(driver, VA_STATUS_ERROR_INVALID_IMAGE);
  struct Buffer *buffer = find(driver, image->buffer, bufferObject);
  if (buffer) destroy(driver, &buffer->object);
  destroy(driver, &image->object);
  return leave(driver, VA_STATUS_SUCCESS);
}

// The common part of vaGetImage and vaPutImage.
static VAStatus findImageAndSurface(struct Driver *driver, VAImageID imageID, VASurfaceID surfaceID,
                                    struct Image **image, struct Buffer **buffer, struct Surface **surface) {
  *image = find(driver, imageID, imageObject);
  *buffer = *image ? find(driver, (*image)->buffer, bufferObject) : NULL;
  *surface = find(driver, surfaceID, surfaceObject);
  if (!*surface) return VA_STATUS_ERROR_INVALID_SURFACE;
  if (!*buffer) return VA_STATUS_ERROR_INVALID_IMAGE;
  bool isSame = (*image)->layout.fourcc == (*surface)->layout.fourcc;
  return isSame ? VA_STATUS_SUCCESS : VA_STATUS_ERROR_INVALID_IMAGE_FORMAT;
}

static VAStatus getImage(VADriverContextP va, VASurfaceID surfaceID, int x, int y, unsigned width,
                         unsigned height, VAImageID imageID) {
  delayDownload(va->pDriverData);
  struct Driver *driver = enter(va);
  struct Image *image;
  struct Buffer *buffer;
  struct Surface *surface;
  VAStatus status = findImageAndSurface(driver, imageID, surfaceID, &image, &buffer, &surface);
  if (status != VA_STATUS_SUCCESS) return leave(driver, status);
  bool fits = copyRegion(&surface->layout, surface->memory->bytes, (unsigned)x, (unsigned)y, &image->layout,
                         buffer->memory->bytes, 0, 0, width, height);
  if (!fits) return leave(driver, VA_STATUS_ERROR_INVALID_PARAMETER);
  count(&driver->state->downloads, 1);
  return leave(driver, VA_STATUS_SUCCESS);
}

// Nothing is scaled. The picture previously decoded into the surface is not a reference any more.
static VAStatus putImage(VADriverContextP va, VASurfaceID surfaceID, VAImageID imageID, int fromX, int fromY,
                         unsigned fromWidth, unsigned fromHeight, int toX, int toY, unsigned toWidth,
                         unsigned toHeight) {
  if (fromWidth != toWidth || fromHeight != toHeight) return VA_STATUS_ERROR_INVALID_PARAMETER;
  struct Driver *driver = enter(va);
  struct Image *image;
  struct Buffer *buffer;
  struct Surface *surface;
  VAStatus status = findImageAndSurface(driver, imageID, surfaceID, &image, &buffer, &surface);
  if (status != VA_STATUS_SUCCESS) return leave(driver, status);
  bool fits = copyRegion(&image->layout, buffer->memory->bytes, (unsigned)fromX, (unsigned)fromY,
                         &surface->layout, surface->memory->bytes, (unsigned)toX, (unsigned)toY, toWidth,
                         toHeight);
  if (!fits) return leave(driver, VA_STATUS_ERROR_INVALID_PARAMETER);
  surface->isRight = false;
  return leave(driver, VA_STATUS_SUCCESS);
}

static uint32_t drmFormat(char a, char b, char c, char d) {
  return (uint32_t)a | (uint32_t)b << 8 | (uint32_t)c << 16 | (uint32_t)d << 24;
}

static void describeForExport(const struct Layout *layout, bool isComposed,
                              VADRMPRIMESurfaceDescriptor *out) {
  bool isTenBit = layout->fourcc == VA_FOURCC_P010;
  uint32_t planeOffsets[2] = {0, layout->chromaOffset};
  uint32_t planeFormats[2] = {isTenBit ? drmFormat('R', '1', '6', ' ') : drmFormat('R', '8', ' ', ' '),
                              isTenBit ? drmFormat('G', 'R', '3', '2') : drmFormat('G', 'R', '8', '8')};
  *out = (VADRMPRIMESurfaceDescriptor){.fourcc = layout->fourcc};
  out->width = layout->width;
  out->height = layout->height;
  out->num_objects = 1;
  out->objects[0].size = layout->size;
  out->objects[0].drm_format_modifier = 0;  // linear
  out->num_layers = isComposed ? 1 : 2;
  for (int plane = 0; plane < 2; plane++) {
    int layer = isComposed ? 0 : plane, place = isComposed ? plane : 0;
    out->layers[layer].num_planes = isComposed ? 2 : 1;
    out->layers[layer].drm_format = isComposed ? layout->fourcc : planeFormats[plane];  // the same as libva's
    out->layers[layer].offset[place] = planeOffsets[plane];
    out->layers[layer].pitch[place] = layout->pitch;
  }
}

// A memfd stands for the DMA buffer. It is a copy: the surface's samples as they are at the call.
static VAStatus exportSurfaceHandle(VADriverContextP va, VASurfaceID id, uint32_t memoryType, uint32_t flags,
                                    void *descriptor) {
  if (memoryType != VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2) return VA_STATUS_ERROR_UNSUPPORTED_MEMORY_TYPE;
  bool isComposed = flags & VA_EXPORT_SURFACE_COMPOSED_LAYERS;
  if (isComposed == !!(flags & VA_EXPORT_SURFACE_SEPARATE_LAYERS)) return VA_STATUS_ERROR_INVALID_PARAMETER;
  struct Driver *driver = enter(va);
  struct Surface *surface = find(driver, id, surfaceObject);
  if (!surface) return leave(driver, VA_STATUS_ERROR_INVALID_SURFACE);
  if (fires(driver, exportFailure)) return leave(driver, VA_STATUS_ERROR_OPERATION_FAILED);
  int file = memfd_create("h26xtest", MFD_CLOEXEC);
  if (file < 0) return leave(driver, VA_STATUS_ERROR_ALLOCATION_FAILED);
  for (size_t done = 0; done < surface->layout.size;) {
    ssize_t written = write(file, surface->memory->bytes + done, surface->layout.size - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      close(file);
      return leave(driver, VA_STATUS_ERROR_ALLOCATION_FAILED);
    }
    done += (size_t)written;
  }
  VADRMPRIMESurfaceDescriptor *out = descriptor;
  describeForExport(&surface->layout, isComposed, out);
  out->objects[0].fd = file;
  if (fires(driver, tiledExport)) out->objects[0].drm_format_modifier = (uint64_t)1 << 56 | 1;  // Intel's X tiling
  if (fires(driver, unknownExport)) out->objects[0].drm_format_modifier = ((uint64_t)1 << 56) - 1;
  if (fires(driver, compressedExport)) {
    unsigned layer = out->num_layers - 1, place = out->layers[layer].num_planes++;
    out->layers[layer].offset[place] = surface->layout.chromaOffset;
    out->layers[layer].pitch[place] = surface->layout.pitch;
  }
  count(&driver->state->exported, 1);
  return leave(driver, VA_STATUS_SUCCESS);
}

void setImageFunctions(struct VADriverVTable *table) {
  table->vaQueryImageFormats = queryImageFormats;
  table->vaCreateImage = createImage;
  table->vaDeriveImage = deriveImage;
  table->vaDestroyImage = destroyImage;
  table->vaGetImage = getImage;
  table->vaPutImage = putImage;
  table->vaExportSurfaceHandle = exportSurfaceHandle;
}
