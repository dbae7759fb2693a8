// SPDX-License-Identifier: MPL-2.0
// Whether the references of a picture are those that it was decoded with before.

#include "driver.h"

// `fields`: those that are referred to, or 0 for as many as were decoded.
static bool isReferenceRight(struct Driver *driver, struct Context *context, VASurfaceID id, unsigned fields,
                             int32_t topPOC, int32_t bottomPOC, uint32_t epoch) {
  struct Surface *surface = find(driver, id, surfaceObject);
  if (!surface || surface->context != context->object.id || !surface->isRight) return false;
  if (!isOfEpoch(driver, surface->entry, epoch)) return false;
  if (fields & ~surface->fields) return false;
  if (fields == 0) fields = surface->fields;
  return (!(fields & topField) || surface->poc[0] == topPOC) &&
         (!(fields & bottomField) || surface->poc[1] == bottomPOC);
}

static bool isH264ReferenceRight(struct Driver *driver, struct Context *context,
                                 const VAPictureH264 *reference, uint32_t epoch) {
  unsigned fields = (reference->flags & VA_PICTURE_H264_TOP_FIELD ? topField : 0) |
                    (reference->flags & VA_PICTURE_H264_BOTTOM_FIELD ? bottomField : 0);
  return isReferenceRight(driver, context, reference->picture_id, fields, reference->TopFieldOrderCnt,
                          reference->BottomFieldOrderCnt, epoch);
}

// One list of a slice: each entry must be right both in itself and in the picture parameters.
static bool isH264ListRight(struct Driver *driver, struct Context *context, const VAPictureH264 *list,
                            unsigned number, uint32_t epoch) {
  const VAPictureParameterBufferH264 *picture = (const void *)context->pictureParameters.memory->bytes;
  for (unsigned i = 0; i < number && i < 32; i++) {
    if (list[i].flags & VA_PICTURE_H264_INVALID || list[i].picture_id == VA_INVALID_ID) continue;
    const VAPictureH264 *frame = NULL;
    for (int j = 0; j < 16 && !frame; j++) {
      const VAPictureH264 *candidate = picture->ReferenceFrames + j;
      bool isValid = !(candidate->flags & VA_PICTURE_H264_INVALID);
      if (isValid && candidate->picture_id == list[i].picture_id) frame = candidate;
    }
    if (!frame || !isH264ReferenceRight(driver, context, frame, epoch)) return false;
    if (!isH264ReferenceRight(driver, context, list + i, epoch)) return false;
  }
  return true;
}

static bool areH264ReferencesRight(struct Driver *driver, struct Context *context,
                                   const VASliceParameterBufferH264 *slice, uint32_t epoch) {
  unsigned type = slice->slice_type % 5;  // 0: P, 1: B, 2: I, 3: SP, 4: SI
  if (type == 2 || type == 4) return true;
  unsigned count0 = slice->num_ref_idx_l0_active_minus1 + 1u;
  unsigned count1 = type == 1 ? slice->num_ref_idx_l1_active_minus1 + 1u : 0;
  return isH264ListRight(driver, context, slice->RefPicList0, count0, epoch) &&
         isH264ListRight(driver, context, slice->RefPicList1, count1, epoch);
}

static bool areH265ReferencesRight(struct Driver *driver, struct Context *context,
                                   const VASliceParameterBufferHEVC *slice, uint32_t epoch) {
  const VAPictureParameterBufferHEVC *picture = (const void *)context->pictureParameters.memory->bytes;
  unsigned type = slice->LongSliceFlags.fields.slice_type;  // 0: B, 1: P, 2: I
  unsigned counts[2] = {type == 2 ? 0 : slice->num_ref_idx_l0_active_minus1 + 1u,
                        type == 0 ? slice->num_ref_idx_l1_active_minus1 + 1u : 0};
  for (int list = 0; list < 2; list++) {
    for (unsigned i = 0; i < counts[list] && i < 15; i++) {
      uint8_t index = slice->RefPicList[list][i];
      if (index == 0xFF) continue;
      if (index >= 15) return false;
      const VAPictureHEVC *frame = picture->ReferenceFrames + index;
      int32_t poc = frame->pic_order_cnt;
      if (frame->flags & VA_PICTURE_HEVC_INVALID) return false;
      if (!isReferenceRight(driver, context, frame->picture_id, 0, poc, poc, epoch)) return false;
    }
  }
  return true;
}

bool areReferencesRight(struct Driver *driver, struct Context *context, uint32_t epoch) {
  for (size_t i = 0; i < context->sliceParameters.count; i++) {
    const struct Piece *piece = context->sliceParameters.items + i;
    for (unsigned j = 0; j < piece->elementCount; j++) {
      const void *slice = piece->memory->bytes + (size_t)j * piece->elementSize;
      bool isRight = isH264(context->profile) ? areH264ReferencesRight(driver, context, slice, epoch)
                                              : areH265ReferencesRight(driver, context, slice, epoch);
      if (!isRight) return false;
    }
  }
  return true;
}
