// SPDX-License-Identifier: MPL-2.0
// Profiles, their attributes, and configurations.

#include "driver.h"

#include <string.h>

static const VAProfile profiles[] = {VAProfileH264ConstrainedBaseline, VAProfileH264Main, VAProfileH264High,
                                     VAProfileHEVCMain, VAProfileHEVCMain10};
_Static_assert(sizeof profiles / sizeof *profiles == profileCount, "every profile is counted");

static bool isProfile(VAProfile profile) {
  for (int i = 0; i < profileCount; i++) {
    if (profiles[i] == profile) return true;
  }
  return false;
}

bool isH264(VAProfile profile) {
  return profile != VAProfileHEVCMain && profile != VAProfileHEVCMain10;
}

static unsigned renderTargetFormats(VAProfile profile) {
  return profile == VAProfileHEVCMain10 ? VA_RT_FORMAT_YUV420 | VA_RT_FORMAT_YUV420_10 : VA_RT_FORMAT_YUV420;
}

static VAStatus queryConfigProfiles(VADriverContextP va, VAProfile *list, int *number) {
  *number = 0;
  if (fires(va->pDriverData, refusedProfile)) return VA_STATUS_SUCCESS;
  memcpy(list, profiles, sizeof profiles);
  *number = profileCount;
  return VA_STATUS_SUCCESS;
}

static VAStatus queryConfigEntrypoints(VADriverContextP va, VAProfile profile, VAEntrypoint *list,
                                       int *number) {
  (void)va;
  *number = 0;
  if (!isProfile(profile)) return VA_STATUS_ERROR_UNSUPPORTED_PROFILE;
  list[0] = VAEntrypointVLD;
  *number = 1;
  return VA_STATUS_SUCCESS;
}

static VAStatus getConfigAttributes(VADriverContextP va, VAProfile profile, VAEntrypoint entrypoint,
                                    VAConfigAttrib *list, int number) {
  (void)va;
  if (!isProfile(profile)) return VA_STATUS_ERROR_UNSUPPORTED_PROFILE;
  if (entrypoint != VAEntrypointVLD) return VA_STATUS_ERROR_UNSUPPORTED_ENTRYPOINT;
  for (int i = 0; i < number; i++) {
    switch (list[i].type) {
    case VAConfigAttribRTFormat: list[i].value = renderTargetFormats(profile); break;
    case VAConfigAttribDecSliceMode: list[i].value = VA_DEC_SLICE_MODE_NORMAL; break;
    case VAConfigAttribMaxPictureWidth:
    case VAConfigAttribMaxPictureHeight: list[i].value = 8192; break;
    default: list[i].value = VA_ATTRIB_NOT_SUPPORTED;
    }
  }
  return VA_STATUS_SUCCESS;
}

static VAStatus createConfig(VADriverContextP va, VAProfile profile, VAEntrypoint entrypoint,
                             VAConfigAttrib *list, int number, VAConfigID *id) {
  if (!isProfile(profile)) return VA_STATUS_ERROR_UNSUPPORTED_PROFILE;
  if (entrypoint != VAEntrypointVLD) return VA_STATUS_ERROR_UNSUPPORTED_ENTRYPOINT;
  for (int i = 0; i < number; i++) {
    if (list[i].type == VAConfigAttribRTFormat && !(list[i].value & renderTargetFormats(profile))) {
      return VA_STATUS_ERROR_UNSUPPORTED_RT_FORMAT;
    }
  }
  struct Driver *driver = enter(va);
  if (fires(driver, refusedProfile)) return leave(driver, VA_STATUS_ERROR_UNSUPPORTED_PROFILE);
  struct Config *config = newObject(driver, configObject, sizeof *config);
  if (!config) return leave(driver, VA_STATUS_ERROR_ALLOCATION_FAILED);
  config->profile = profile;
  *id = config->object.id;
  return leave(driver, VA_STATUS_SUCCESS);
}

static VAStatus destroyConfig(VADriverContextP va, VAConfigID id) {
  struct Driver *driver = enter(va);
  struct Config *config = find(driver, id, configObject);
  if (!config) return leave(driver, VA_STATUS_ERROR_INVALID_CONFIG);
  destroy(driver, &config->object);
  return leave(driver, VA_STATUS_SUCCESS);
}

static VAStatus queryConfigAttributes(VADriverContextP va, VAConfigID id, VAProfile *profile,
                                      VAEntrypoint *entrypoint, VAConfigAttrib *list, int *number) {
  struct Driver *driver = enter(va);
  struct Config *config = find(driver, id, configObject);
  if (!config) return leave(driver, VA_STATUS_ERROR_INVALID_CONFIG);
  *profile = config->profile;
  *entrypoint = VAEntrypointVLD;
  list[0] = (VAConfigAttrib){VAConfigAttribRTFormat, renderTargetFormats(config->profile)};
  *number = 1;
  return leave(driver, VA_STATUS_SUCCESS);
}

static VASurfaceAttrib surfaceAttribute(VASurfaceAttribType type, uint32_t flags, uint32_t value) {
  VASurfaceAttrib attribute = {.type = type, .flags = flags};
  attribute.value.type = VAGenericValueTypeInteger;
  attribute.value.value.i = (int)value;
  return attribute;
}

// Under refusedSize the largest surface is 16x16, which is how a caller learns of it before it makes any.
static VAStatus querySurfaceAttributes(VADriverContextP va, VAConfigID id, VASurfaceAttrib *list,
                                       unsigned *number) {
  struct Driver *driver = enter(va);
  struct Config *config = find(driver, id, configObject);
  if (!config) return leave(driver, VA_STATUS_ERROR_INVALID_CONFIG);
  uint32_t get = VA_SURFACE_ATTRIB_GETTABLE, set = VA_SURFACE_ATTRIB_SETTABLE;
  bool isTenBit = config->profile == VAProfileHEVCMain10;
  unsigned capacity = list ? *number : 0;
  *number = isTenBit ? 7 : 6;
  if (!list) return leave(driver, VA_STATUS_SUCCESS);
  if (capacity < *number) return leave(driver, VA_STATUS_ERROR_MAX_NUM_EXCEEDED);
  uint32_t largest = fires(driver, refusedSize) ? 16 : 8192;
  list[0] = surfaceAttribute(VASurfaceAttribMinWidth, get, 16);
  list[1] = surfaceAttribute(VASurfaceAttribMinHeight, get, 16);
  list[2] = surfaceAttribute(VASurfaceAttribMaxWidth, get, largest);
  list[3] = surfaceAttribute(VASurfaceAttribMaxHeight, get, largest);
  list[4] = surfaceAttribute(VASurfaceAttribMemoryType, get | set,
                             VA_SURFACE_ATTRIB_MEM_TYPE_VA | VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2);
  if (isTenBit) list[5] = surfaceAttribute(VASurfaceAttribPixelFormat, get | set, VA_FOURCC_P010);
  list[isTenBit ? 6 : 5] = surfaceAttribute(VASurfaceAttribPixelFormat, get | set, VA_FOURCC_NV12);
  return leave(driver, VA_STATUS_SUCCESS);
}

void setConfigFunctions(struct VADriverVTable *table) {
  table->vaQueryConfigProfiles = queryConfigProfiles;
  table->vaQueryConfigEntrypoints = queryConfigEntrypoints;
  table->vaGetConfigAttributes = getConfigAttributes;
  table->vaCreateConfig = createConfig;
  table->vaDestroyConfig = destroyConfig;
  table->vaQueryConfigAttributes = queryConfigAttributes;
  table->vaQuerySurfaceAttributes = querySurfaceAttributes;
}
