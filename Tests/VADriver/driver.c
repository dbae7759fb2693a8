// SPDX-License-Identifier: MPL-2.0
//
// A VA-API driver for tests. It decodes nothing: it looks pictures up in a table of pictures that were
// decoded before, and so behaves like hardware wherever there is libva. Loaded over X11 (Xvfb will do) by
//
//   LIBVA_DRIVERS_PATH=<folder of h26xtest_drv_video.so> LIBVA_DRIVER_NAME=h26xtest
//
// LIBVA_TEST_TABLE names the table (struct TableHeader, struct Entry, samples). A picture's key is the
// FNV-1a hash of its slices and its picture order count. If a picture is not in the table, or has other
// references than in the table, the output is a checkered pattern without an error, as on hardware.
// libavcodec may pass the zero byte of a four-byte start code as the last byte of the previous slice,
// depending on the rest of the packet. A picture is therefore also found by its key without such bytes.
//
// LIBVA_TEST_STATE names a file of at least 4096 bytes (struct State) that a test shares with every process
// that loads this driver. The test orders faults there, and the driver counts its actions. A killed process
// cannot reduce the counts of live surfaces, contexts and displays, so the test that kills it sets them to 0.
//
// Everything is opened and mapped in __vaDriverInit. After that, the only system calls are for memory (mmap,
// munmap, mprotect, brk), for a contended mutex (futex), for faults that wait (clock_nanosleep) and for
// vaExportSurfaceHandle (memfd_create, write, close). A process may close its sandbox in between.

#include "driver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <va/va_backend_prot.h>
#include <va/va_backend_vpp.h>

// Fills every entry of libva's tables that has no function, regardless of its arguments.
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

static void fillTables(VADriverContextP va) {
  struct VADriverVTable *table = va->vtable;
  fillTable(table, offsetof(struct VADriverVTable, reserved));
  table->vaTerminate = terminate;
  setConfigFunctions(table);
  setSurfaceFunctions(table);
  setContextFunctions(table);
  setBufferFunctions(table);
  setImageFunctions(table);
  setDecodingFunctions(table);
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

__attribute__((visibility("default")))
VAStatus DRIVER_INIT(VA_MAJOR_VERSION, VA_MINOR_VERSION)(VADriverContextP va);

VAStatus DRIVER_INIT(VA_MAJOR_VERSION, VA_MINOR_VERSION)(VADriverContextP va) {
  return initialize(va);
}
