// SPDX-License-Identifier: MPL-2.0
//
// A VA-API driver for tests. It decodes nothing: it looks pictures up in a table of pictures that were
// decoded before, and so behaves like hardware wherever there is libva. Loaded over X11 (Xvfb will do) by
//
//   LIBVA_DRIVERS_PATH=<folder of h26xtest_drv_video.so> LIBVA_DRIVER_NAME=h26xtest
//
// LIBVA_TEST_TABLE names the table (struct TableHeader, struct Entry, samples). A picture's key is the
// FNV-1a hash of its slices and its picture order count. A picture that is not in the table, or whose
// references are not the pictures that it was decoded with before, comes out as a chequered pattern,
// without an error, as on hardware. libavcodec hands over the zero byte of a four-byte start code as the
// last one of the slice before, or not, depending on what follows in the packet; so a picture is also found
// by its key without such bytes.
//
// LIBVA_TEST_STATE names a file of at least 4096 bytes (struct State) that a test shares with every process
// that loads this driver: the test orders faults there, and the driver counts what it does. A process that is
// killed takes nothing back, so that its live surfaces, contexts and displays stay in the counts: a test that
// kills one sets them to 0 itself once it is gone.
//
// Everything is opened and mapped in __vaDriverInit. From then on the only system calls are those for memory
// (mmap, munmap, mprotect, brk), for a contended mutex (futex), for faults that wait (clock_nanosleep) and
// for vaExportSurfaceHandle (memfd_create, write, close): a process may close its sandbox in between.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <va/va.h>
#include <va/va_backend.h>
#include <va/va_backend_prot.h>
#include <va/va_backend_vpp.h>
#include <va/va_drmcommon.h>

// MARK: The two files

struct TableHeader {
  char magic[8];  // "VATABLE2"
  uint32_t entryCount;
  uint32_t zero;
};

struct Entry {
  uint64_t key;
  uint32_t width, height;   // coded size, in luma samples
  uint32_t bytesPerSample;  // 1: NV12; 2: P010
  uint32_t epoch;           // number of the coded video sequence
  int32_t topPOC, bottomPOC;
  uint64_t offset;          // of the samples in the file: luma rows, then interleaved chroma rows
  uint64_t reserved;
};

_Static_assert(sizeof(struct TableHeader) == 16 && sizeof(struct Entry) == 48, "the table's layout");

enum FaultKind {
  noFault,
  noDevice,          // vaInitialize fails
  refusedProfile,    // no profiles, and no configuration
  refusedSize,       // nothing larger than 16x16
  fewSurfaces,       // no more than `parameter` surfaces in a driver instance
  decodingError,     // vaEndPicture fails
  hang,              // vaEndPicture does not return; other calls still do
  crash,             // vaEndPicture takes the process down with SIGSEGV
  wrongPixels,       // the chequered pattern, and success
  lostContext,       // this picture's vaEndPicture fails, and every later call with its context
  slowDownload,      // vaGetImage, vaDeriveImage and an image's vaMapBuffer each take `parameter` ms
  syncFailure,       // vaSyncSurface fails: `parameter` 0: operation failed, otherwise: hardware busy
  tooManyContexts    // no more than `parameter` contexts in all processes together
};

static const uint32_t anyPicture = UINT32_MAX, forEver = UINT32_MAX;

struct State {
  uint32_t kind, parameter;
  uint32_t entry;      // kinds 5...9 and 11: only at the picture of this entry of the table, or anyPicture
  uint32_t remaining;  // faults still to come, or forEver
  uint32_t fired;
  uint32_t decoded;    // pictures found, with the right references, and no fault
  uint32_t garbage;    // pictures not found, or with a wrong reference
  uint32_t liveSurfaces, liveContexts, liveDisplays;
  uint32_t downloads;  // vaGetImage and vaDeriveImage
  uint32_t lastEntry;
  uint32_t exported;
};

_Static_assert(offsetof(struct State, exported) == 48, "the state's layout");

static const size_t stateSize = 4096;

// MARK: Objects

// Samples or parameters. An object that lends its memory to another (a surface to its derived image, a buffer
// to the picture that it was rendered for) may go first.
struct Memory {
  size_t references;
  size_t size;
  _Alignas(64) uint8_t bytes[];
};

enum ObjectKind { configObject, contextObject, surfaceObject, bufferObject, imageObject };

struct Object {
  enum ObjectKind kind;
  uint32_t id;
};

struct Config {
  struct Object object;
  VAProfile profile;
};

// How NV12 or P010 lies in memory.
struct Layout {
  uint32_t fourcc;
  uint32_t width, height, bytesPerSample;
  uint32_t pitch, chromaOffset, size;
};

enum { topField = 1, bottomField = 2, wholeFrame = 3 };

struct Surface {
  struct Object object;
  struct Layout layout;
  struct Memory *memory;
  // The picture in it, as a later picture's references are compared to:
  VAContextID context;  // that decoded it, or VA_INVALID_ID
  bool isRight;         // holds the samples of `entry`
  const struct Entry *entry;
  unsigned fields;      // decoded so far
  int32_t poc[2];       // top, bottom
  uint32_t frameNum;
};

struct Buffer {
  struct Object object;
  VABufferType type;
  unsigned elementSize, elementCount, capacity;
  bool isImage;
  struct Memory *memory;
};

struct Image {
  struct Object object;
  struct Layout layout;
  VABufferID buffer;
};

// A buffer as it was when vaRenderPicture got it.
struct Piece {
  struct Memory *memory;
  unsigned elementSize, elementCount;
};

struct Pieces {
  struct Piece *items;
  size_t count, capacity;
};

struct Context {
  struct Object object;
  VAProfile profile;
  bool isLost;
  VASurfaceID target;       // between vaBeginPicture and vaEndPicture
  VASurfaceID lastTarget;
  const struct Entry *last; // the last picture found in the table
  struct Piece pictureParameters;
  struct Pieces sliceParameters, sliceData;  // the n-th of one belongs to the n-th of the other
};

// An instance of the driver, that is, a VADisplay.
struct Driver {
  pthread_mutex_t mutex;  // guards everything below but `state`, whose fields are atomic
  struct Object **objects;
  uint16_t *generations;  // of each place in `objects`, so that an identifier is not used again soon
  uint32_t objectCapacity;
  uint32_t surfaceCount;

  struct State *state;
  struct State ownState;  // used where there is no file

  const uint8_t *table;
  size_t tableSize;
  const struct Entry *entries;
  uint32_t entryCount;
  uint32_t *heads, *nexts;  // chains of entries by key: index plus 1, in the table's order
  uint32_t headMask;
};

static struct Driver *enter(VADriverContextP va) {
  struct Driver *driver = va->pDriverData;
  pthread_mutex_lock(&driver->mutex);
  return driver;
}

static VAStatus leave(struct Driver *driver, VAStatus status) {
  pthread_mutex_unlock(&driver->mutex);
  return status;
}

static void count(uint32_t *counter, uint32_t change) {
  __atomic_fetch_add(counter, change, __ATOMIC_SEQ_CST);
}

static uint32_t current(const uint32_t *field) {
  return __atomic_load_n(field, __ATOMIC_SEQ_CST);
}

static struct Memory *newMemory(size_t size) {
  struct Memory *memory = NULL;
  if (size > (size_t)1 << 30 || posix_memalign((void **)&memory, 64, sizeof *memory + size) != 0) return NULL;
  memset(memory, 0, sizeof *memory + size);
  memory->references = 1;
  memory->size = size;
  return memory;
}

static struct Memory *retain(struct Memory *memory) {
  memory->references++;
  return memory;
}

static void release(struct Memory *memory) {
  if (memory && --memory->references == 0) free(memory);
}

// An identifier is a place in `objects`, plus 1, under that place's generation. The last generation is left
// out, so that none is VA_INVALID_ID.
static void *find(struct Driver *driver, uint32_t id, enum ObjectKind kind) {
  uint32_t place = (id & 0xFFFF) - 1;
  if (place >= driver->objectCapacity) return NULL;
  struct Object *object = driver->objects[place];
  return object && object->id == id && object->kind == kind ? object : NULL;
}

static void *newObject(struct Driver *driver, enum ObjectKind kind, size_t size) {
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

static void clearPicture(struct Context *context) {
  release(context->pictureParameters.memory);
  context->pictureParameters = (struct Piece){0};
  clearPieces(&context->sliceParameters);
  clearPieces(&context->sliceData);
  context->target = VA_INVALID_ID;
}

static void destroy(struct Driver *driver, struct Object *object) {
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

// MARK: Faults

// Whether a fault of this kind is ordered and still to come; it then counts as fired.
static bool fires(struct Driver *driver, enum FaultKind kind) {
  struct State *state = driver->state;
  if (current(&state->kind) != kind) return false;
  uint32_t remaining = current(&state->remaining);
  do {
    if (remaining == 0) return false;
    if (remaining == forEver) break;
  } while (!__atomic_compare_exchange_n(&state->remaining, &remaining, remaining - 1, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST));
  count(&state->fired, 1);
  return true;
}

// The same, for faults that a picture is chosen for. Both fields of a frame are its picture.
static bool firesAt(struct Driver *driver, enum FaultKind kind, const struct Entry *entry) {
  uint32_t chosen = current(&driver->state->entry);
  if (chosen != anyPicture) {
    if (!entry || chosen >= driver->entryCount) return false;
    const struct Entry *wanted = driver->entries + chosen;
    if (wanted != entry && (wanted->offset != entry->offset || wanted->epoch != entry->epoch)) return false;
  }
  return fires(driver, kind);
}

static void waitMilliseconds(uint32_t milliseconds) {
  struct timespec rest = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  while (nanosleep(&rest, &rest) == -1 && errno == EINTR) {}
}

// Called without the mutex: other calls go on meanwhile.
static void delayDownload(struct Driver *driver) {
  if (fires(driver, slowDownload)) waitMilliseconds(current(&driver->state->parameter));
}

// MARK: Pictures in memory

// The pitch is never the width, and the chroma plane never follows the last luma row, so that nobody takes
// either for granted.
static struct Layout layoutOf(uint32_t fourcc, uint32_t width, uint32_t height) {
  struct Layout layout = {fourcc, width, height, fourcc == VA_FOURCC_P010 ? 2 : 1, 0, 0, 0};
  layout.pitch = ((width * layout.bytesPerSample + 63) & ~63u) + 64;
  layout.chromaOffset = layout.pitch * (height + 2);
  layout.size = layout.chromaOffset + layout.pitch * ((height + 1) / 2);
  return layout;
}

static bool isPixelFormat(uint32_t fourcc) {
  return fourcc == VA_FOURCC_NV12 || fourcc == VA_FOURCC_P010;
}

static bool isSize(unsigned width, unsigned height) {
  return width - 1 < 8192 && height - 1 < 8192;
}

// A frame's 8x8 squares, light and dark in turn, with one chroma sample for all: what no picture looks like.
static void fillWithGarbage(struct Surface *surface) {
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

static void copySamples(struct Driver *driver, const struct Entry *entry, struct Surface *surface) {
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

// Copies a region whose corners are even; false where it leaves either picture or the formats differ.
static bool copyRegion(const struct Layout *from, const uint8_t *source, unsigned fromX, unsigned fromY,
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

// MARK: Configurations

static const VAProfile profiles[] = {VAProfileH264ConstrainedBaseline, VAProfileH264Main, VAProfileH264High,
                                     VAProfileHEVCMain, VAProfileHEVCMain10};
enum { profileCount = sizeof profiles / sizeof *profiles };

static bool isProfile(VAProfile profile) {
  for (int i = 0; i < profileCount; i++) {
    if (profiles[i] == profile) return true;
  }
  return false;
}

static bool isH264(VAProfile profile) {
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

// MARK: Surfaces

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
  count(&driver->state->exported, 1);
  return leave(driver, VA_STATUS_SUCCESS);
}

// MARK: Contexts

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

static struct Context *findContext(struct Driver *driver, VAContextID id) {
  struct Context *context = find(driver, id, contextObject);
  return context && !context->isLost ? context : NULL;
}

// MARK: Buffers

static struct Buffer *newBuffer(struct Driver *driver, VABufferType type, unsigned size, unsigned number,
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

// MARK: Images

static const VAImageFormat imageFormats[] = {
    {.fourcc = VA_FOURCC_NV12, .byte_order = VA_LSB_FIRST, .bits_per_pixel = 12},
    {.fourcc = VA_FOURCC_P010, .byte_order = VA_LSB_FIRST, .bits_per_pixel = 24},
};
enum { imageFormatCount = sizeof imageFormats / sizeof *imageFormats };

static VAStatus queryImageFormats(VADriverContextP va, VAImageFormat *list, int *number) {
  (void)va;
  memcpy(list, imageFormats, sizeof imageFormats);
  *number = imageFormatCount;
  return VA_STATUS_SUCCESS;
}

// Takes over the caller's hold on `memory`, also where it fails.
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

// What vaGetImage and vaPutImage both need.
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

// Nothing is scaled. What was decoded into the surface before is no reference from then on.
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

// MARK: Decoding

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
  for (int i = 0; i < number; i++) {
    struct Buffer *buffer = find(driver, ids[i], bufferObject);
    VAStatus status = buffer ? renderBuffer(context, buffer) : VA_STATUS_ERROR_INVALID_BUFFER;
    if (status != VA_STATUS_SUCCESS) return leave(driver, status);
  }
  return leave(driver, VA_STATUS_SUCCESS);
}

// What the parameters say of the picture to decode.
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

// False where a parameter is missing or points outside its data.
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
  // Of the picture order count what does not depend on where decoding has begun (MaxPicOrderCntLsb is 16 at least).
  uint8_t poc = (uint32_t)picture->poc[picture->fields == bottomField] & 15;
  picture->key = hash(picture->key, &poc, 1);
  picture->strippedKey = hash(picture->strippedKey, &poc, 1);
  return true;
}

// The same slices may come in several coded video sequences: the one that is being decoded goes first, then
// those after it.
static const struct Entry *findEntry(struct Driver *driver, uint64_t key, const struct Entry *last) {
  const struct Entry *first = NULL, *later = NULL;
  for (uint32_t i = driver->heads[key & driver->headMask]; i; i = driver->nexts[i - 1]) {
    const struct Entry *entry = driver->entries + (i - 1);
    if (entry->key != key) continue;
    if (last && entry->epoch == last->epoch) return entry;
    if (last && entry->epoch > last->epoch && !later) later = entry;
    if (!first) first = entry;
  }
  return later ? later : first;
}

static size_t sampleSize(const struct Entry *entry) {
  size_t luma = (size_t)entry->width * entry->height;
  size_t chroma = ((size_t)entry->width + 1) / 2 * (((size_t)entry->height + 1) / 2) * 2;
  return (luma + chroma) * entry->bytesPerSample;
}

// A leading picture of an open GOP may refer to the sequence before its own. And where two sequences hold the
// same picture, the surface may have got the other one's: it will do if the samples are the same.
static bool isOfEpoch(struct Driver *driver, const struct Entry *held, uint32_t epoch) {
  if (held->epoch == epoch || held->epoch + 1 == epoch) return true;
  for (uint32_t i = driver->heads[held->key & driver->headMask]; i; i = driver->nexts[i - 1]) {
    const struct Entry *entry = driver->entries + (i - 1);
    if (entry->key != held->key || (entry->epoch != epoch && entry->epoch + 1 != epoch)) continue;
    const uint8_t *samples = driver->table + entry->offset, *heldSamples = driver->table + held->offset;
    size_t size = sampleSize(entry);
    if (size == sampleSize(held) && memcmp(samples, heldSamples, size) == 0) return true;
  }
  return false;
}

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

static bool areReferencesRight(struct Driver *driver, struct Context *context, uint32_t epoch) {
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

// MARK: The rest

// Every entry of libva's tables that nothing else fills, whatever its arguments.
static VAStatus unimplemented(void) {
  return VA_STATUS_ERROR_UNIMPLEMENTED;
}

static void fillTable(void *functions, size_t size) {
  VAStatus (*function)(void) = unimplemented;
  for (size_t i = 0; i + sizeof function <= size; i += sizeof function) {
    memcpy((char *)functions + i, &function, sizeof function);
  }
}

static VAStatus querySubpictureFormats(VADriverContextP va, VAImageFormat *list, unsigned *flags,
                                       unsigned *number) {
  (void)va, (void)list, (void)flags;
  *number = 0;
  return VA_STATUS_SUCCESS;
}

static VAStatus queryDisplayAttributes(VADriverContextP va, VADisplayAttribute *list, int *number) {
  (void)va, (void)list;
  *number = 0;
  return VA_STATUS_SUCCESS;
}

static void freeDriver(struct Driver *driver) {
  if (driver->table) munmap((void *)driver->table, driver->tableSize);
  if (driver->state != &driver->ownState) munmap(driver->state, stateSize);
  free(driver->heads);
  free(driver->nexts);
  free(driver->objects);
  free(driver->generations);
  pthread_mutex_destroy(&driver->mutex);
  free(driver);
}

static VAStatus terminate(VADriverContextP va) {
  struct Driver *driver = va->pDriverData;
  for (uint32_t i = 0; i < driver->objectCapacity; i++) {
    if (driver->objects[i]) destroy(driver, driver->objects[i]);
  }
  count(&driver->state->liveDisplays, -1);
  freeDriver(driver);
  va->pDriverData = NULL;
  return VA_STATUS_SUCCESS;
}

// Maps a whole file; NULL where that fails or it is smaller than it must be.
static void *mapFile(const char *path, bool isShared, size_t smallest, size_t *size) {
  int file = open(path, (isShared ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (file < 0) return NULL;
  struct stat status;
  void *bytes = MAP_FAILED;
  if (fstat(file, &status) == 0 && status.st_size >= (off_t)smallest) {
    *size = isShared ? smallest : (size_t)status.st_size;
    int protection = isShared ? PROT_READ | PROT_WRITE : PROT_READ;
    bytes = mmap(NULL, *size, protection, isShared ? MAP_SHARED : MAP_PRIVATE, file, 0);
  }
  close(file);
  return bytes == MAP_FAILED ? NULL : bytes;
}

// Opens the table, checks all of it, and chains its entries by key. Without a table there are no entries.
static bool openTable(struct Driver *driver, const char *path) {
  if (path) {
    driver->table = mapFile(path, false, sizeof(struct TableHeader), &driver->tableSize);
    if (!driver->table) return false;
    const struct TableHeader *header = (const void *)driver->table;
    size_t room = (driver->tableSize - sizeof *header) / sizeof(struct Entry);
    if (memcmp(header->magic, "VATABLE2", 8) != 0 || header->entryCount > room) return false;
    driver->entries = (const void *)(header + 1);
    driver->entryCount = header->entryCount;
  }
  driver->headMask = 63;
  while (driver->headMask < driver->entryCount) driver->headMask = driver->headMask * 2 + 1;
  driver->heads = calloc((size_t)driver->headMask + 1, sizeof *driver->heads);
  driver->nexts = calloc((size_t)driver->entryCount + 1, sizeof *driver->nexts);
  if (!driver->heads || !driver->nexts) return false;
  for (uint32_t i = driver->entryCount; i > 0; i--) {
    const struct Entry *entry = driver->entries + (i - 1);
    if (!isSize(entry->width, entry->height) || entry->bytesPerSample - 1 > 1) return false;
    if (entry->offset > driver->tableSize) return false;
    if (sampleSize(entry) > driver->tableSize - entry->offset) return false;
    uint32_t *head = driver->heads + (entry->key & driver->headMask);
    driver->nexts[i - 1] = *head;
    *head = i;
  }
  return true;
}

static void fillTables(VADriverContextP va) {
  struct VADriverVTable *table = va->vtable;
  fillTable(table, offsetof(struct VADriverVTable, reserved));
  table->vaTerminate = terminate;
  table->vaQueryConfigProfiles = queryConfigProfiles;
  table->vaQueryConfigEntrypoints = queryConfigEntrypoints;
  table->vaGetConfigAttributes = getConfigAttributes;
  table->vaCreateConfig = createConfig;
  table->vaDestroyConfig = destroyConfig;
  table->vaQueryConfigAttributes = queryConfigAttributes;
  table->vaQuerySurfaceAttributes = querySurfaceAttributes;
  table->vaCreateSurfaces = createSurfaces;
  table->vaCreateSurfaces2 = createSurfaces2;
  table->vaDestroySurfaces = destroySurfaces;
  table->vaSyncSurface = syncSurface;
  table->vaSyncSurface2 = syncSurface2;
  table->vaQuerySurfaceStatus = querySurfaceStatus;
  table->vaExportSurfaceHandle = exportSurfaceHandle;
  table->vaCreateContext = createContext;
  table->vaDestroyContext = destroyContext;
  table->vaCreateBuffer = createBuffer;
  table->vaBufferSetNumElements = bufferSetNumElements;
  table->vaMapBuffer = mapBuffer;
  table->vaUnmapBuffer = unmapBuffer;
  table->vaDestroyBuffer = destroyBuffer;
  table->vaBufferInfo = bufferInfo;
  table->vaQueryImageFormats = queryImageFormats;
  table->vaCreateImage = createImage;
  table->vaDeriveImage = deriveImage;
  table->vaDestroyImage = destroyImage;
  table->vaGetImage = getImage;
  table->vaPutImage = putImage;
  table->vaBeginPicture = beginPicture;
  table->vaRenderPicture = renderPicture;
  table->vaEndPicture = endPicture;
  table->vaQuerySubpictureFormats = querySubpictureFormats;
  table->vaQueryDisplayAttributes = queryDisplayAttributes;
  size_t start = offsetof(struct VADriverVTableVPP, vaQueryVideoProcFilters);
  if (va->vtable_vpp) {
    va->vtable_vpp->version = VA_DRIVER_VTABLE_VPP_VERSION;
    fillTable((char *)va->vtable_vpp + start, offsetof(struct VADriverVTableVPP, reserved) - start);
  }
  start = offsetof(struct VADriverVTableProt, vaCreateProtectedSession);
  if (va->vtable_prot) {
    va->vtable_prot->version = VA_DRIVER_VTABLE_PROT_VERSION;
    fillTable((char *)va->vtable_prot + start, offsetof(struct VADriverVTableProt, reserved) - start);
  }
}

static VAStatus initialize(VADriverContextP va) {
  struct Driver *driver = calloc(1, sizeof *driver);
  if (!driver) return VA_STATUS_ERROR_ALLOCATION_FAILED;
  pthread_mutex_init(&driver->mutex, NULL);
  driver->state = &driver->ownState;
  const char *path = getenv("LIBVA_TEST_STATE");
  size_t size;
  void *state = path ? mapFile(path, true, stateSize, &size) : NULL;
  if (state) driver->state = state;
  const char *failure = NULL;
  if (path && !state) {
    failure = "h26x test driver: LIBVA_TEST_STATE is no file of 4096 bytes\n";
  } else if (fires(driver, noDevice)) {
    failure = "h26x test driver: no device, as ordered\n";
  } else if (!openTable(driver, getenv("LIBVA_TEST_TABLE"))) {
    failure = "h26x test driver: bad LIBVA_TEST_TABLE\n";
  }
  if (failure) {
    if (va->error_callback) va->error_callback(va, failure);
    freeDriver(driver);
    return VA_STATUS_ERROR_UNKNOWN;
  }
  count(&driver->state->liveDisplays, 1);
  fillTables(va);
  va->pDriverData = driver;
  va->version_major = VA_MAJOR_VERSION;
  va->version_minor = VA_MINOR_VERSION;
  va->max_profiles = profileCount;
  va->max_entrypoints = 1;
  va->max_attributes = 1;
  va->max_image_formats = imageFormatCount;
  va->max_subpic_formats = 1;      // libva wants more than none
  va->max_display_attributes = 1;  // likewise
  va->str_vendor = "h26x test driver";
  return VA_STATUS_SUCCESS;
}

// libva looks for the function by its own version, and then by each before it.
#define JOIN(major, minor) __vaDriverInit_##major##_##minor
#define DRIVER_INIT(major, minor) JOIN(major, minor)

VAStatus DRIVER_INIT(VA_MAJOR_VERSION, VA_MINOR_VERSION)(VADriverContextP va);

VAStatus DRIVER_INIT(VA_MAJOR_VERSION, VA_MINOR_VERSION)(VADriverContextP va) {
  return initialize(va);
}
