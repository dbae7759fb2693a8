// SPDX-License-Identifier: MPL-2.0
// Memory with counted holders, and objects under identifiers.

#include "driver.h"

#include <stdlib.h>
#include <string.h>

struct Memory *newMemory(size_t size) {
  struct Memory *memory = NULL;
  if (size > (size_t)1 << 30 || posix_memalign((void **)&memory, 64, sizeof *memory + size) != 0) return NULL;
  memset(memory, 0, sizeof *memory + size);
  memory->references = 1;
  memory->size = size;
  return memory;
}

struct Memory *retain(struct Memory *memory) {
  memory->references++;
  return memory;
}

void release(struct Memory *memory) {
  if (memory && --memory->references == 0) free(memory);
}

// An identifier is a place in `objects`, plus 1, under that place's generation. The last generation is left
// out, so that none is VA_INVALID_ID.
void *find(struct Driver *driver, uint32_t id, enum ObjectKind kind) {
  uint32_t place = (id & 0xFFFF) - 1;
  if (place >= driver->objectCapacity) return NULL;
  struct Object *object = driver->objects[place];
  return object && object->id == id && object->kind == kind ? object : NULL;
}

void *newObject(struct Driver *driver, enum ObjectKind kind, size_t size) {
  uint32_t place = 0;
  while (place < driver->objectCapacity && driver->objects[place]) place++;
  if (place == driver->objectCapacity) {
    uint32_t capacity = place ? place * 2 : 64;
    if (capacity > 0x8000) return NULL;
    struct Object **objects = realloc(driver->objects, capacity * sizeof *objects);
    if (!objects) return NULL;
    driver->objects = objects;
    uint16_t *generations = realloc(driver->generations, capacity * sizeof *generations);
    if (!generations) return NULL;
    driver->generations = generations;
    memset(objects + place, 0, (capacity - place) * sizeof *objects);
    memset(generations + place, 0, (capacity - place) * sizeof *generations);
    driver->objectCapacity = capacity;
  }
  struct Object *object = calloc(1, size);
  if (!object) return NULL;
  driver->generations[place] = (driver->generations[place] + 1) % 0x7FFF;
  object->kind = kind;
  object->id = (uint32_t)driver->generations[place] << 16 | (place + 1);
  driver->objects[place] = object;
  return object;
}

static void clearPieces(struct Pieces *pieces) {
  for (size_t i = 0; i < pieces->count; i++) release(pieces->items[i].memory);
  free(pieces->items);
  *pieces = (struct Pieces){0};
}

void clearPicture(struct Context *context) {
  release(context->pictureParameters.memory);
  context->pictureParameters = (struct Piece){0};
  clearPieces(&context->sliceParameters);
  clearPieces(&context->sliceData);
  context->target = VA_INVALID_ID;
}

void destroy(struct Driver *driver, struct Object *object) {
  switch (object->kind) {
  case contextObject:
    clearPicture((struct Context *)object);
    count(&driver->state->liveContexts, -1);
    break;
  case surfaceObject:
    release(((struct Surface *)object)->memory);
    driver->surfaceCount--;
    count(&driver->state->liveSurfaces, -1);
    break;
  case bufferObject:
    release(((struct Buffer *)object)->memory);
    break;
  case configObject:
  case imageObject:
    break;
  }
  driver->objects[(object->id & 0xFFFF) - 1] = NULL;
  free(object);
}
