// SPDX-License-Identifier: MPL-2.0
// Static inline functions for what Swift cannot import of Linux: calls that the C library declares with _GNU_SOURCE only
// or not at all, variadic ones, and macros. Results and `errno` are those of the calls. A kernel that lacks a call sets
// ENOSYS.
#ifndef CLINUX_SHIM_H
#define CLINUX_SHIM_H

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

extern int fallocate(int fd, int mode, off_t offset, off_t length);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);

// Whether room was made in front of the bytes at an offset (FALLOC_FL_INSERT_RANGE, fallocate(2)).
static inline int clinux_insert_range(int fd, off_t offset, off_t length) {
  return fallocate(fd, FALLOC_FL_INSERT_RANGE, offset, length) == 0;
}

// Exchanges two files or folders in one step (renameat2(2)).
static inline int clinux_exchange(const char *path, const char *other) {
  return (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, 2 /* RENAME_EXCHANGE */);
}

// MARK: The program

// The arguments that the program was executed with, as they lie in front of its environment; NULL where the environment
// was moved since.
static inline char *const *clinux_arguments(int *count) {
  extern char **environ;
  char *const *end = environ - 1;
  if (!environ || *end) return NULL;
  // Their number comes before them.
  for (int number = 0; number < 1 << 20; number++) {
    if ((uintptr_t)end[-1 - number] == (uintptr_t)number) return *count = number, end - number;
  }
  return NULL;
}

// MARK: Descriptors

enum {
  CLINUX_MFD_CLOEXEC = 1,
  CLINUX_MFD_ALLOW_SEALING = 2,
  CLINUX_MFD_NOEXEC_SEAL = 8, // Linux 6.3
  CLINUX_F_SETSIG = 10,
  CLINUX_O_PATH = 010000000,
  CLINUX_F_ADD_SEALS = 1033,
  CLINUX_F_SEAL_SEAL = 1,
  CLINUX_F_SEAL_SHRINK = 2,
  CLINUX_F_SEAL_GROW = 4,
  CLINUX_F_SEAL_FUTURE_WRITE = 16, // Linux 5.1
};

static inline int clinux_memfd_create(const char *name, unsigned flags) { return (int)syscall(SYS_memfd_create, name, flags); }
static inline int clinux_eventfd(unsigned flags) { return (int)syscall(SYS_eventfd2, 0, flags); }
static inline int clinux_pipe(int descriptors[2], int flags) { return (int)syscall(SYS_pipe2, descriptors, flags); }
// Linux 5.9.
static inline int clinux_close_range(unsigned first, unsigned last) { return (int)syscall(436, first, last, 0); }
// fstat(2) without a path, which is what the C library makes of it: a filter of system calls can distinguish the two.
static inline int clinux_fstat(int descriptor, struct stat *status) { return (int)syscall(SYS_fstat, descriptor, status); }

// The type of the file system that a descriptor's file is in (linux/magic.h); 0 where that is not known.
static inline uint32_t clinux_file_system_type(int descriptor) {
  struct statfs status;
  return fstatfs(descriptor, &status) == 0 ? (uint32_t)status.f_type : 0;
}

// MARK: Messages with descriptors

enum { CLINUX_DESCRIPTOR_LIMIT = 8 };

static inline ssize_t clinux_send(
    int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count, int flags) {
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(CLINUX_DESCRIPTOR_LIMIT * sizeof(int))] = {0};
  struct iovec vector = {.iov_base = (void *)bytes, .iov_len = count};
  struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
  if (descriptor_count > 0 && descriptor_count <= CLINUX_DESCRIPTOR_LIMIT) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(descriptor_count * sizeof(int));
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptor_count * sizeof(int));
    memcpy(CMSG_DATA(header), descriptors, descriptor_count * sizeof(int));
  }
  return sendmsg(socket, &message, flags | MSG_NOSIGNAL);
}

// Fills up to CLINUX_DESCRIPTOR_LIMIT descriptors; `message_flags` has MSG_TRUNC or MSG_CTRUNC where something did not fit.
static inline ssize_t clinux_receive(
    int socket, void *bytes, size_t capacity, int *descriptors, size_t *descriptor_count, int flags, int *message_flags) {
  _Alignas(struct cmsghdr) char control[CMSG_SPACE(CLINUX_DESCRIPTOR_LIMIT * sizeof(int))];
  struct iovec vector = {.iov_base = bytes, .iov_len = capacity};
  struct msghdr message = {
      .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  ssize_t result = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  *descriptor_count = 0;
  *message_flags = message.msg_flags;
  if (result < 0) return result;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    size_t size = header->cmsg_len - CMSG_LEN(0);
    if (size / sizeof(int) > CLINUX_DESCRIPTOR_LIMIT - *descriptor_count) break;
    memcpy(descriptors + *descriptor_count, CMSG_DATA(header), size);
    *descriptor_count += size / sizeof(int);
  }
  return result;
}

// The process that made the other end of a pair of sockets; 0 where that is not known.
static inline pid_t clinux_peer(int socket) {
  struct { pid_t process; uid_t user; gid_t group; } peer = {0};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, 17 /* SO_PEERCRED */, &peer, &size) == 0 ? peer.process : 0;
}

// MARK: Processes

// Closes all descriptors from one on in the program that is executed (glibc 2.34).
static inline int clinux_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

enum {
  CLINUX_POSIX_SPAWN_SETSID = 0x80,
  CLINUX_CLONE_THREAD = 0x00010000,
  CLINUX_CLONE_NEWNS = 0x00020000,
  CLINUX_CLONE_NEWUTS = 0x04000000,
  CLINUX_CLONE_NEWIPC = 0x08000000,
  CLINUX_CLONE_NEWUSER = 0x10000000,
  CLINUX_CLONE_NEWNET = 0x40000000,
};

// Swift's importer refuses fork.
static inline pid_t clinux_fork(void) { return fork(); }
// Linux 5.3.
static inline int clinux_pidfd_open(pid_t process) { return (int)syscall(434, process, 0); }
static inline int clinux_pidfd_send_signal(int process, int signal) { return (int)syscall(424, process, signal, NULL, 0); }
// waitid(2) with P_PIDFD (Linux 5.4). `code` is 0 where WNOHANG is set and the process has not ended.
static inline int clinux_reap(int process, int options, int *code, int *status) {
  siginfo_t information;
  memset(&information, 0, sizeof information);
  int result = waitid((idtype_t)3, (id_t)process, &information, WEXITED | options);
  *code = information.si_code;
  *status = information.si_status;
  return result;
}
static inline int clinux_prctl(int option, unsigned long argument) { return prctl(option, argument, 0UL, 0UL, 0UL); }

extern int pthread_setattr_default_np(const pthread_attr_t *attributes);
// The size of the stacks of threads that are made without attributes.
static inline int clinux_set_thread_stack_size(size_t size) {
  pthread_attr_t attributes;
  int result = pthread_attr_init(&attributes);
  if (result == 0) result = pthread_attr_setstacksize(&attributes, size);
  return result == 0 ? pthread_setattr_default_np(&attributes) : result;
}
extern char *secure_getenv(const char *name);
extern void __asan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

// Whether the process was built with the address or the thread sanitizer, which reserve memory without limit and call
// more of the kernel.
static inline int clinux_is_sanitized(void) { return __asan_init != NULL || __tsan_init != NULL; }

// What dladdr(3) reports.
typedef struct {
  const char *path;
  void *base;
  const char *symbol;
  void *address;
} clinux_object;
extern int clinux_dladdr(const void *address, clinux_object *object) __asm__("dladdr");

// getpid(2) as a 32-bit program calls it.
static inline long clinux_call_32_bit(void) {
#ifdef __x86_64__
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory", "r8", "r9", "r10", "r11");
  return result;
#else
  return syscall(-1);
#endif
}
// A system call with numbers for arguments, for trying whether it is let through.
static inline long clinux_call(long number, long first, long second, long third) { return syscall(number, first, second, third); }

// MARK: Protection

static inline int clinux_unshare(int flags) { return (int)syscall(SYS_unshare, flags); }
static inline int clinux_pivot_root(const char *root, const char *old) { return (int)syscall(SYS_pivot_root, root, old); }

// Gives up all capabilities.
static inline int clinux_drop_capabilities(void) {
  struct { uint32_t version; int process; } header = {0x20080522, 0};
  struct { uint32_t effective, permitted, inheritable; } sets[2];
  memset(sets, 0, sizeof sets);
  return (int)syscall(SYS_capset, &header, sets);
}

// The version of Landlock that the kernel has (Linux 5.13), or -1.
static inline int clinux_landlock_version(void) { return (int)syscall(444, NULL, 0, 1); }
// `size` is that of the structure in the version that is asked for: 8, 16 or 24 bytes.
static inline int clinux_landlock_create_ruleset(uint64_t files, uint64_t network, uint64_t scopes, size_t size) {
  uint64_t attributes[3] = {files, network, scopes};
  return (int)syscall(444, attributes, size, 0);
}
/// Allows `rights` for a file, or for what is beneath a folder.
static inline int clinux_landlock_add_path(int ruleset, uint64_t rights, int path) {
  struct { uint64_t rights; int32_t path; } __attribute__((packed)) rule = {rights, path};
  return (int)syscall(445, ruleset, 1, &rule, 0);
}
static inline int clinux_landlock_restrict_self(int ruleset) { return (int)syscall(446, ruleset, 0); }

static inline int clinux_seccomp_action_is_available(uint32_t action) {
  return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}
static inline int clinux_set_system_call_filter(struct sock_filter *instructions, unsigned short count) {
  struct sock_fprog program = {.len = count, .filter = instructions};
  // For all threads: a driver may have begun some.
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

#endif
