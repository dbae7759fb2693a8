// SPDX-License-Identifier: MPL-2.0

/// The layers of protection that are active around a codec process.
package struct Protection: OptionSet, Hashable, Sendable {
  /// A bit a layer.
  package let rawValue: UInt32

  /// Takes the bits as they are.
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  /// System calls that decoding does not need end the process (seccomp(2)).
  package static let systemCallFilter = Protection(rawValue: 1 << 0)
  /// A program that is executed gets no privileges (PR_SET_NO_NEW_PRIVS).
  package static let noNewPrivileges = Protection(rawValue: 1 << 1)
  /// No file can be opened and no port bound or connected (landlock(7)).
  package static let landlock = Protection(rawValue: 1 << 2)
  /// The process is in a user namespace of its own.
  package static let userNamespace = Protection(rawValue: 1 << 3)
  /// There is no network.
  package static let networkNamespace = Protection(rawValue: 1 << 4)
  /// The file system is empty.
  package static let mountNamespace = Protection(rawValue: 1 << 5)
  /// The process has no capabilities.
  package static let noCapabilities = Protection(rawValue: 1 << 6)
  /// The memory of the process is limited (RLIMIT_DATA).
  package static let memoryLimit = Protection(rawValue: 1 << 7)
  /// The process can write no file and leaves no core (RLIMIT_FSIZE, PR_SET_DUMPABLE).
  package static let noFiles = Protection(rawValue: 1 << 8)

  /// The layers that a session requires if it requires a sandbox: the other layers stand behind these two.
  package static let essential: Protection = [.systemCallFilter, .noNewPrivileges]

  /// The layers that a GPU's driver does not work behind.
  package static let closedToDrivers: Protection = [
    .userNamespace, .networkNamespace, .mountNamespace, .memoryLimit, .noFiles,
  ]

  /// Each layer with its name, the most important first.
  private static let names: [(Protection, StaticString)] = [
    (.systemCallFilter, "system-call filter"), (.noNewPrivileges, "no new privileges"), (.landlock, "Landlock"),
    (.userNamespace, "user namespace"), (.networkNamespace, "network namespace"), (.mountNamespace, "mount namespace"),
    (.noCapabilities, "no capabilities"), (.memoryLimit, "memory limit"), (.noFiles, "no files"),
  ]

  /// All layers.
  package static let all = Protection(names.map(\.0))

  /// The layers that are not active.
  package var missing: Protection { Self.all.subtracting(self) }
}

extension Protection: CustomStringConvertible {
  /// The names of the layers, as in "system-call filter, Landlock"; "none" where there are none.
  package var description: String {
    let names = Self.names.filter { contains($0.0) }.map { "\($0.1)" }
    return names.isEmpty ? "none" : names.joined(separator: ", ")
  }
}
