// SPDX-License-Identifier: MPL-2.0
import CLinux
import Glibc
import VideoDecoding

/// A program under a filter that denies system calls, as containers and indexers have: `deny ERRNO NUMBER,… COMMAND…`.
enum Denial {
  /// Executes the command; the calls fail with the error in it and in all that it begins.
  static func run(_ arguments: [String]) -> Never {
    guard arguments.count > 2 else { exit(64) }
    install(arguments[0], arguments[1])
    var command = unsafe arguments.dropFirst(2).map { unsafe strdup($0) } + [nil]
    guard let name = unsafe command[0] else { exit(64) }
    unsafe execvp(name, &command)
    exit(127)
  }

  /// Puts the filter up, and prints whether a decoder here may begin a process.
  static func showVerdict(_ arguments: [String]) {
    if arguments.count > 1 { install(arguments[0], arguments[1]) }
    CodecHost.show("forbidden: \(ApplicationFilter.forbidsProcesses)")
  }

  /// - Parameters:
  ///   - action: `kill`, or the number of the error with which the calls fail.
  ///   - numbers: of the calls, separated by commas.
  private static func install(_ action: String, _ numbers: String) {
    let verdict = UInt32(action).map { 0x0005_0000 | $0 } ?? 0x8000_0000
    // Loads the number; each one that matches is denied, every other is performed (classic BPF, linux/filter.h).
    var program = [sock_filter(code: 0x20, jt: 0, jf: 0, k: 0)]
    for number in numbers.split(separator: ",").compactMap({ UInt32($0) }) {
      program.append(sock_filter(code: 0x15, jt: 0, jf: 1, k: number))
      program.append(sock_filter(code: 0x06, jt: 0, jf: 0, k: verdict))
    }
    program.append(sock_filter(code: 0x06, jt: 0, jf: 0, k: 0x7FFF_0000))
    let isInForce = unsafe program.withUnsafeMutableBufferPointer {
      unsafe clinux_prctl(PR_SET_NO_NEW_PRIVS, 1) == 0
        && clinux_set_system_call_filter($0.baseAddress, UInt16(clamping: $0.count)) == 0
    }
    guard isInForce else { exit(77) }
  }
}
