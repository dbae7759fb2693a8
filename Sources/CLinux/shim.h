// SPDX-License-Identifier: MPL-2.0
// Calls of Linux that the C library declares with _GNU_SOURCE only.
#ifndef CLINUX_SHIM_H
#define CLINUX_SHIM_H

#include <linux/falloc.h>
#include <sys/types.h>

extern int fallocate(int fd, int mode, off_t offset, off_t length);

// Whether room was made in front of the bytes at an offset (FALLOC_FL_INSERT_RANGE, fallocate(2)).
static inline int clinux_insert_range(int fd, off_t offset, off_t length) {
  return fallocate(fd, FALLOC_FL_INSERT_RANGE, offset, length) == 0;
}

#endif
