// SPDX-License-Identifier: MPL-2.0

/// The filter's action for a system call (linux/seccomp.h).
struct FilterVerdict: RawRepresentable, Hashable {
  let rawValue: UInt32

  /// It is performed.
  static let allow = FilterVerdict(rawValue: 0x7FFF_0000)
  /// It ends the process, with SIGSYS.
  static let kill = FilterVerdict(rawValue: 0x8000_0000)
  /// It fails with this `errno`.
  static func fail(_ code: Int32) -> FilterVerdict { FilterVerdict(rawValue: 0x0005_0000 | UInt32(code) & 0xFFFF) }
}
