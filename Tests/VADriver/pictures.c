// SPDX-License-Identifier: MPL-2.0
// Pictures in memory: their layout, and copies into and between them.

#include "driver.h"

#include <string.h>

// The pitch is never the width, and the chroma plane never follows the last luma row, so that nobody takes
// either for granted.
struct Layout layoutOf(uint32_t fourcc, uint32_t width, uint32_t height) {
  struct Layout layout = {fourcc, width, height, fourcc == VA_FOURCC_P010 ? 2 : 1, 0, 0, 0};
  layout.pitch = ((width * layout.bytesPerSample + 63) & ~63u) + 64;
  layout.chromaOffset = layout.pitch * (height + 2);
  layout.size = layout.chromaOffset + layout.pitch * ((height + 1) / 2);
  return layout;
}

bool isPixelFormat(uint32_t fourcc) {
  return fourcc == VA_FOURCC_NV12 || fourcc == VA_FOURCC_P010;
}

bool isSize(unsigned width, unsigned height) {
  return width - 1 < 8192 && height - 1 < 8192;
}

// A frame's 8x8 squares, light and dark in turn, with one chroma sample for all: what no picture looks like.
void fillWithGarbage(struct Surface *surface) {
  const struct Layout *layout = &surface->layout;
  for (uint32_t y = 0; y < layout->height + (layout->height + 1) / 2; y++) {
    bool isLuma = y < layout->height;
    uint32_t offset = isLuma ? 0 : layout->chromaOffset, line = isLuma ? y : y - layout->height;
    uint8_t *row = surface->memory->bytes + offset + line * layout->pitch;
    for (uint32_t x = 0; x < (layout->width + 1) / 2 * 2; x++) {
      if (isLuma && x == layout->width) break;
      uint8_t value = !isLuma ? (x & 1 ? 0x60 : 0xA0) : (x / 8 + y / 8) & 1 ? 0xD8 : 0x28;
      if (layout->bytesPerSample == 1) row[x] = value;
      else ((uint16_t *)row)[x] = (uint16_t)(value << 8);
    }
  }
}

void copySamples(struct Driver *driver, const struct Entry *entry, struct Surface *surface) {
  const struct Layout *layout = &surface->layout;
  const uint8_t *from = driver->table + entry->offset;
  uint8_t *to = surface->memory->bytes;
  size_t lumaRow = (size_t)entry->width * entry->bytesPerSample;
  size_t chromaRow = (size_t)(entry->width + 1) / 2 * 2 * entry->bytesPerSample;
  for (uint32_t y = 0; y < entry->height; y++, from += lumaRow) {
    memcpy(to + (size_t)y * layout->pitch, from, lumaRow);
  }
  to += layout->chromaOffset;
  for (uint32_t y = 0; y < (entry->height + 1) / 2; y++, from += chromaRow) {
    memcpy(to + (size_t)y * layout->pitch, from, chromaRow);
  }
}

// Copies a region whose corners are even; false if it leaves either picture or the formats differ.
bool copyRegion(const struct Layout *from, const uint8_t *source, unsigned fromX, unsigned fromY,
                const struct Layout *to, uint8_t *target, unsigned toX, unsigned toY,
                unsigned width, unsigned height) {
  if ((fromX | fromY | toX | toY) & 1) return false;
  if (fromX > from->width || width > from->width - fromX) return false;
  if (toX > to->width || width > to->width - toX) return false;
  if (fromY > from->height || height > from->height - fromY) return false;
  if (toY > to->height || height > to->height - toY) return false;
  unsigned bytes = from->bytesPerSample;
  for (unsigned y = 0; y < height; y++) {
    memcpy(target + (size_t)(toY + y) * to->pitch + toX * bytes,
           source + (size_t)(fromY + y) * from->pitch + fromX * bytes, (size_t)width * bytes);
  }
  source += from->chromaOffset;
  target += to->chromaOffset;
  width = (width + 1) / 2 * 2;
  for (unsigned y = 0; y < (height + 1) / 2; y++) {
    memcpy(target + (size_t)(toY / 2 + y) * to->pitch + toX * bytes,
           source + (size_t)(fromY / 2 + y) * from->pitch + fromX * bytes, (size_t)width * bytes);
  }
  return true;
}
