// SPDX-License-Identifier: MPL-2.0
import CLinux
import CodecLink
import Glibc

/// Takes files, the network, other processes and privileges out of a process's reach.
///
/// The starter confines itself when its libraries are loaded, and what it forks is born confined: making namespaces for
/// each session would take longer than the fork. Each layer is a layer more than the filter of system calls, and a
/// kernel or container that refuses one leaves the others.
package enum Sandbox {
  /// The extent of the confinement.
  package enum Wall: Sendable {
    /// All that libavcodec does without.
    case software
    /// All that a GPU's driver does without. The driver opens its nodes and files itself, later too.
    case hardware
  }

  /// Applies all layers of a wall, and returns those that are active.
  static func apply(_ wall: Wall) -> Protection {
    var protection: Protection = []
    if clinux_prctl(PR_SET_NO_NEW_PRIVS, 1) == 0 { protection.insert(.noNewPrivileges) }
    switch wall {
    case .software: protection.formUnion(ResourceLimits.applyCommon())
    case .hardware: ResourceLimits.applyForDriver()
    }
    // A sanitizer reads /proc and writes its reports to files.
    guard !ResourceLimits.isSanitized else { return protection }
    if wall == .software { protection.formUnion(enterNamespaces()) }
    if clinux_drop_capabilities() == 0 { protection.insert(.noCapabilities) }
    if wall == .software, restrictByLandlock(allowing: []) { protection.insert(.landlock) }
    return protection
  }

  /// Leaves a session's process the files that a driver needs, of this process's own among them: the starter cannot do
  /// that for it.
  static func leaveDriverFiles() -> Protection {
    !ResourceLimits.isSanitized && restrictByLandlock(allowing: DriverFiles.all) ? .landlock : []
  }

  /// Enters empty namespaces. If no user namespace can be made, the others need privileges.
  private static func enterNamespaces() -> Protection {
    let others = CLINUX_CLONE_NEWNS | CLINUX_CLONE_NEWNET | CLINUX_CLONE_NEWIPC | CLINUX_CLONE_NEWUTS
    var protection: Protection
    if clinux_unshare(Int32(CLINUX_CLONE_NEWUSER | others)) == 0 {
      protection = [.userNamespace, .networkNamespace]
    } else if clinux_unshare(Int32(others)) == 0 {
      protection = .networkNamespace
    } else {
      return []
    }
    if emptyFileSystem() { protection.insert(.mountNamespace) }
    return protection
  }

  /// Makes an empty file system that cannot be written the root.
  private static func emptyFileSystem() -> Bool {
    // A folder that is there in every system.
    let place = "/proc"
    let flags = UInt(MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY)
    // Mode 555, because chdir(2) needs it: the owner of the new root has no number in a user namespace without a
    // mapping. There, capabilities do not count for its files.
    guard unsafe mount(nil, "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0,
      unsafe mount("none", place, "tmpfs", flags, "size=4k,nr_inodes=1,mode=555") == 0, unsafe chdir(place) == 0
    else { return false }
    // pivot_root(2) puts the old root on top of the new one, from where it is removed. It refuses an initial RAM disk.
    if unsafe clinux_pivot_root(".", ".") == 0 {
      guard unsafe umount2(".", Int32(MNT_DETACH)) == 0 else { return false }
    } else {
      guard unsafe chroot(".") == 0 else { return false }
    }
    return unsafe chdir("/") == 0
  }

  /// Denies everything that this kernel's Landlock controls, but some files. Versions are the kernel's, rights are in
  /// linux/landlock.h.
  private static func restrictByLandlock(allowing allowed: [DriverFiles]) -> Bool {
    let version = clinux_landlock_version()
    guard version >= 1 else { return false }
    // Executing, reading, writing, making and removing; then linking, truncating, and ioctl of devices.
    let rights: UInt64 =
      switch version {
      case 1: (1 << 13) - 1
      case 2: (1 << 14) - 1
      case 3, 4: (1 << 15) - 1
      default: (1 << 16) - 1
      }
    // Binding and connecting of TCP.
    let network: UInt64 = version >= 4 ? 0b11 : 0
    // Signals to others, and their abstract sockets; a driver may need the X server's socket.
    let scopes: UInt64 = version >= 6 ? allowed.isEmpty ? 0b11 : 0b10 : 0
    let size = version >= 6 ? 24 : version >= 4 ? 16 : 8
    let ruleset = clinux_landlock_create_ruleset(rights, network, scopes, size)
    guard ruleset >= 0 else { return false }
    defer { close(ruleset) }
    for file in allowed {
      let descriptor = unsafe open(file.path, Int32(CLINUX_O_PATH) | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      _ = clinux_landlock_add_path(ruleset, file.rights & rights, descriptor)
      close(descriptor)
    }
    return clinux_landlock_restrict_self(ruleset) == 0
  }
}
