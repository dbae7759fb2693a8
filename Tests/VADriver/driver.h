// SPDX-License-Identifier: MPL-2.0
// Shared declarations of the driver: the layout of the two files, the objects, and functions. Each file includes
// this first, because of _GNU_SOURCE.

#pragma once

#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <va/va.h>
#include <va/va_backend.h>
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
  wrongPixels,       // the checkered pattern, and success
  lostContext,       // this picture's vaEndPicture fails, and every later call with its context
  slowDownload,      // vaGetImage, vaDeriveImage and an image's vaMapBuffer each take `parameter` ms
  syncFailure,       // vaSyncSurface fails: `parameter` 0: operation failed, otherwise: hardware busy
  tooManyContexts,   // no more than `parameter` contexts in all processes together
  lostSlice,         // vaCreateBuffer fails for the data of a slice, after `parameter` slices of a driver instance
  renderFailure,     // vaRenderPicture fails for the slices of a picture, after `parameter` pictures likewise
  tiledExport,       // vaExportSurfaceHandle describes a tiled arrangement
  exportFailure,     // vaExportSurfaceHandle fails
  unknownExport,     // vaExportSurfaceHandle describes an arrangement that only the driver knows
  compressedExport   // vaExportSurfaceHandle describes a third plane, as compressed surfaces have
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
  uint32_t sliceCount, renderCount;  // what lostSlice and renderFailure have let pass

  struct State *state;
  struct State ownState;  // used where there is no file

  const uint8_t *table;
  size_t tableSize;
  const struct Entry *entries;
  uint32_t entryCount;
  uint32_t *heads, *nexts;  // chains of entries by key: index plus 1, in the table's order
  uint32_t headMask;
};

static inline struct Driver *enter(VADriverContextP va) {
  struct Driver *driver = va->pDriverData;
  pthread_mutex_lock(&driver->mutex);
  return driver;
}

static inline VAStatus leave(struct Driver *driver, VAStatus status) {
  pthread_mutex_unlock(&driver->mutex);
  return status;
}

static inline void count(uint32_t *counter, uint32_t change) {
  __atomic_fetch_add(counter, change, __ATOMIC_SEQ_CST);
}

static inline uint32_t current(const uint32_t *field) {
  return __atomic_load_n(field, __ATOMIC_SEQ_CST);
}

// MARK: objects.c

struct Memory *newMemory(size_t size);
struct Memory *retain(struct Memory *memory);
void release(struct Memory *memory);
void *find(struct Driver *driver, uint32_t id, enum ObjectKind kind);
void *newObject(struct Driver *driver, enum ObjectKind kind, size_t size);
void clearPicture(struct Context *context);
void destroy(struct Driver *driver, struct Object *object);

// MARK: faults.c

bool fires(struct Driver *driver, enum FaultKind kind);
bool firesAfter(struct Driver *driver, enum FaultKind kind, uint32_t *passed);
bool firesAt(struct Driver *driver, enum FaultKind kind, const struct Entry *entry);
void waitMilliseconds(uint32_t milliseconds);
void delayDownload(struct Driver *driver);

// MARK: pictures.c

struct Layout layoutOf(uint32_t fourcc, uint32_t width, uint32_t height);
bool isPixelFormat(uint32_t fourcc);
bool isSize(unsigned width, unsigned height);
void fillWithGarbage(struct Surface *surface);
void copySamples(struct Driver *driver, const struct Entry *entry, struct Surface *surface);
bool copyRegion(const struct Layout *from, const uint8_t *source, unsigned fromX, unsigned fromY,
                const struct Layout *to, uint8_t *target, unsigned toX, unsigned toY,
                unsigned width, unsigned height);

// MARK: table.c

void *mapFile(const char *path, bool isShared, size_t smallest, size_t *size);
bool openTable(struct Driver *driver, const char *path);
const struct Entry *findEntry(struct Driver *driver, uint64_t key, const struct Entry *last);
bool isOfEpoch(struct Driver *driver, const struct Entry *held, uint32_t epoch);

// MARK: configs.c

enum { profileCount = 5 };
bool isH264(VAProfile profile);

// MARK: contexts.c, buffers.c

struct Context *findContext(struct Driver *driver, VAContextID id);
struct Buffer *newBuffer(struct Driver *driver, VABufferType type, unsigned size, unsigned number,
                         struct Memory *memory);

// MARK: images.c

enum { imageFormatCount = 2 };

// MARK: references.c

bool areReferencesRight(struct Driver *driver, struct Context *context, uint32_t epoch);

// MARK: Each file's part of libva's table

void setConfigFunctions(struct VADriverVTable *table);
void setSurfaceFunctions(struct VADriverVTable *table);
void setContextFunctions(struct VADriverVTable *table);
void setBufferFunctions(struct VADriverVTable *table);
void setImageFunctions(struct VADriverVTable *table);
void setDecodingFunctions(struct VADriverVTable *table);
