// SPDX-License-Identifier: MPL-2.0
// A picture, from its parameters to its samples.

#include "driver.h"

#include <stdlib.h>

static VAStatus beginPicture(VADriverContextP va, VAContextID id, VASurfaceID target) {
  struct Driver *driver = enter(va);
  struct Context *context = findContext(driver, id);
  if (!context) return leave(driver, VA_STATUS_ERROR_INVALID_CONTEXT);
  if (!find(driver, target, surfaceObject)) return leave(driver, VA_STATUS_ERROR_INVALID_SURFACE);
  clearPicture(context);
  context->target = target;
  return leave(driver, VA_STATUS_SUCCESS);
}

static bool append(struct Pieces *pieces, struct Piece piece) {
  if (pieces->count == pieces->capacity) {
    size_t capacity = pieces->capacity ? pieces->capacity * 2 : 16;
    struct Piece *items = realloc(pieces->items, capacity * sizeof *items);
    if (!items) return false;
    pieces->items = items;
    pieces->capacity = capacity;
  }
  pieces->items[pieces->count++] = piece;
  return true;
}

static VAStatus renderBuffer(struct Context *context, struct Buffer *buffer) {
  bool h264 = isH264(context->profile);
  struct Piece piece = {buffer->memory, buffer->elementSize, buffer->elementCount};
  struct Pieces *pieces;
  size_t smallest = 0;
  switch (buffer->type) {
  case VAPictureParameterBufferType:
    smallest = h264 ? sizeof(VAPictureParameterBufferH264) : sizeof(VAPictureParameterBufferHEVC);
    if (piece.elementSize < smallest) return VA_STATUS_ERROR_INVALID_PARAMETER;
    release(context->pictureParameters.memory);
    context->pictureParameters = piece;
    retain(piece.memory);
    return VA_STATUS_SUCCESS;
  case VASliceParameterBufferType:
    smallest = h264 ? sizeof(VASliceParameterBufferH264) : sizeof(VASliceParameterBufferHEVC);
    pieces = &context->sliceParameters;
    break;
  case VASliceDataBufferType:
    pieces = &context->sliceData;
    break;
  default:
    return VA_STATUS_SUCCESS;  // the scaling lists, for instance
  }
  if (piece.elementSize < smallest) return VA_STATUS_ERROR_INVALID_PARAMETER;
  if (!append(pieces, piece)) return VA_STATUS_ERROR_ALLOCATION_FAILED;
  retain(piece.memory);
  return VA_STATUS_SUCCESS;
}

static VAStatus renderPicture(VADriverContextP va, VAContextID id, VABufferID *ids, int number) {
  struct Driver *driver = enter(va);
  struct Context *context = findContext(driver, id);
  if (!context) return leave(driver, VA_STATUS_ERROR_INVALID_CONTEXT);
  if (context->target == VA_INVALID_ID) return leave(driver, VA_STATUS_ERROR_OPERATION_FAILED);
  struct Buffer *first = number > 0 ? find(driver, ids[0], bufferObject) : NULL;
  if (first && first->type == VASliceParameterBufferType && firesAfter(driver, renderFailure, &driver->renderCount)) {
    return leave(driver, VA_STATUS_ERROR_OPERATION_FAILED);
  }
  for (int i = 0; i < number; i++) {
    struct Buffer *buffer = find(driver, ids[i], bufferObject);
    VAStatus status = buffer ? renderBuffer(context, buffer) : VA_STATUS_ERROR_INVALID_BUFFER;
    if (status != VA_STATUS_SUCCESS) return leave(driver, status);
  }
  return leave(driver, VA_STATUS_SUCCESS);
}

// The parameters' data about the picture to decode.
struct Picture {
  uint64_t key, strippedKey;  // over the slices as they came, and without the zero bytes after each
  unsigned fields;
  int32_t poc[2];
  uint32_t frameNum;
};

static uint64_t hash(uint64_t key, const uint8_t *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) key = (key ^ bytes[i]) * 1099511628211u;
  return key;
}

// False if a parameter is missing or points outside its data.
static bool describePicture(struct Context *context, struct Picture *picture) {
  const struct Pieces *parameters = &context->sliceParameters, *data = &context->sliceData;
  if (!context->pictureParameters.memory || parameters->count != data->count) return false;
  if (isH264(context->profile)) {
    const VAPictureParameterBufferH264 *from = (const void *)context->pictureParameters.memory->bytes;
    bool isTop = from->CurrPic.flags & VA_PICTURE_H264_TOP_FIELD;
    bool isBottom = from->CurrPic.flags & VA_PICTURE_H264_BOTTOM_FIELD;
    picture->fields = isTop == isBottom ? wholeFrame : isTop ? topField : bottomField;
    picture->poc[0] = from->CurrPic.TopFieldOrderCnt;
    picture->poc[1] = from->CurrPic.BottomFieldOrderCnt;
    picture->frameNum = from->frame_num;
  } else {
    const VAPictureParameterBufferHEVC *from = (const void *)context->pictureParameters.memory->bytes;
    picture->fields = wholeFrame;
    picture->poc[0] = picture->poc[1] = from->CurrPic.pic_order_cnt;
    picture->frameNum = 0;
  }
  picture->key = picture->strippedKey = 14695981039346656037u;
  for (size_t i = 0; i < parameters->count; i++) {
    const struct Piece *piece = parameters->items + i;
    const struct Memory *memory = data->items[i].memory;
    for (unsigned j = 0; j < piece->elementCount; j++) {
      const uint8_t *element = piece->memory->bytes + (size_t)j * piece->elementSize;
      const VASliceParameterBufferBase *slice = (const void *)element;
      uint32_t offset = slice->slice_data_offset, size = slice->slice_data_size;
      if (offset > memory->size || size > memory->size - offset) return false;
      picture->key = hash(picture->key, memory->bytes + offset, size);
      while (size > 0 && memory->bytes[offset + size - 1] == 0) size--;
      picture->strippedKey = hash(picture->strippedKey, memory->bytes + offset, size);
    }
  }
  // This part of the picture order count does not depend on the start of decoding: MaxPicOrderCntLsb is at least 16.
  uint8_t poc = (uint32_t)picture->poc[picture->fields == bottomField] & 15;
  picture->key = hash(picture->key, &poc, 1);
  picture->strippedKey = hash(picture->strippedKey, &poc, 1);
  return true;
}

// The fault for this picture, if one fires. Those that do not return are for the caller, without the mutex.
static enum FaultKind pictureFault(struct Driver *driver, const struct Entry *entry) {
  enum FaultKind kind = current(&driver->state->kind);
  bool isPictureFault = kind >= decodingError && kind <= lostContext;
  return isPictureFault && firesAt(driver, kind, entry) ? kind : noFault;
}

// Decodes the picture that the context has got into the surface.
static enum FaultKind decode(struct Driver *driver, struct Context *context, struct Surface *surface) {
  struct Picture picture = {0};
  bool isWhole = describePicture(context, &picture);
  const struct Entry *entry = isWhole ? findEntry(driver, picture.key, context->last) : NULL;
  if (isWhole && !entry) entry = findEntry(driver, picture.strippedKey, context->last);
  enum FaultKind fault = pictureFault(driver, entry);

  // The second field of a frame comes right after the first; it is right only if the first was.
  bool isSecond = picture.fields != wholeFrame && context->lastTarget == surface->object.id &&
                  surface->context == context->object.id && surface->frameNum == picture.frameNum &&
                  surface->fields == (wholeFrame ^ picture.fields);
  const struct Layout *layout = &surface->layout;
  bool isRight = entry && entry->bytesPerSample == layout->bytesPerSample && entry->width <= layout->width &&
                 entry->height <= layout->height && areReferencesRight(driver, context, entry->epoch) &&
                 (!isSecond || (surface->isRight && surface->entry->offset == entry->offset));
  struct State *state = driver->state;
  if (fault == noFault) count(isRight ? &state->decoded : &state->garbage, 1);
  if (fault != noFault) isRight = false;

  surface->context = context->object.id;
  surface->isRight = isRight;
  surface->entry = entry;
  surface->fields = isSecond ? wholeFrame : picture.fields;
  surface->poc[0] = isSecond && picture.fields == bottomField ? surface->poc[0] : picture.poc[0];
  surface->poc[1] = isSecond && picture.fields == topField ? surface->poc[1] : picture.poc[1];
  surface->frameNum = picture.frameNum;
  context->lastTarget = surface->object.id;
  if (entry) {
    context->last = entry;
    __atomic_store_n(&state->lastEntry, (uint32_t)(entry - driver->entries), __ATOMIC_SEQ_CST);
  }
  if (isRight) copySamples(driver, entry, surface);
  else fillWithGarbage(surface);
  return fault;
}

static VAStatus endPicture(VADriverContextP va, VAContextID id) {
  struct Driver *driver = enter(va);
  struct Context *context = findContext(driver, id);
  if (!context) return leave(driver, VA_STATUS_ERROR_INVALID_CONTEXT);
  if (context->target == VA_INVALID_ID) return leave(driver, VA_STATUS_ERROR_OPERATION_FAILED);
  struct Surface *surface = find(driver, context->target, surfaceObject);
  enum FaultKind fault = surface ? decode(driver, context, surface) : noFault;
  clearPicture(context);
  context->isLost = fault == lostContext;
  leave(driver, VA_STATUS_SUCCESS);
  if (!surface) return VA_STATUS_ERROR_INVALID_SURFACE;
  switch (fault) {
  case decodingError:
    return VA_STATUS_ERROR_DECODING_ERROR;
  case lostContext:
    return VA_STATUS_ERROR_INVALID_CONTEXT;
  case hang:
    for (;;) waitMilliseconds(1000);
  case crash:  // by a store rather than raise(), which a sandbox may refuse
    *(volatile int *)NULL = 0;
    abort();
  default:
    return VA_STATUS_SUCCESS;
  }
}

void setDecodingFunctions(struct VADriverVTable *table) {
  table->vaBeginPicture = beginPicture;
  table->vaRenderPicture = renderPicture;
  table->vaEndPicture = endPicture;
}
