// SPDX-License-Identifier: MPL-2.0

/// The exit statuses of the program.
package enum ExitStatus: Int32 {
  /// Any other failure.
  case failed = 1
  /// The stream is damaged, differs from the other, or breaks the standard.
  case unsoundStream = 2
  /// Wrong usage: EX_USAGE of sysexits.h.
  case usage = 64

  /// The status when a signal ends the program, as shells have it.
  package static func ended(by signal: Int32) -> Int32 { 128 + signal }
}
