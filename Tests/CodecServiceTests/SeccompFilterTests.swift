// SPDX-License-Identifier: MPL-2.0
import Foundation
import Glibc
import Testing

@testable import CodecService

/// The filter's program, run by an interpreter, for both architectures.
@Suite struct SeccompFilterTests {
  private static let process: pid_t = 4_711
  private let filter = SeccompFilter(process: process)

  /// What the kernel does with a call.
  private func verdict(
    _ number: UInt32, _ arguments: [UInt64] = [], on architecture: SeccompFilter.Architecture,
    as stated: UInt32? = nil
  ) throws -> FilterVerdict {
    var words = [number, stated ?? architecture.rawValue, 0, 0]
    for index in 0..<6 {
      let argument = index < arguments.count ? arguments[index] : 0
      words += [UInt32(truncatingIfNeeded: argument), UInt32(truncatingIfNeeded: argument >> 32)]
    }
    let program = filter.program(for: architecture)
    var (accumulator, position) = (UInt32(0), 0)
    while true {
      let instruction = try #require(program.indices.contains(position) ? program[position] : nil)
      position += 1
      switch instruction.code {
      case 0x20: accumulator = words[Int(instruction.operand) / 4]
      case 0x54: accumulator &= instruction.operand
      case 0x15: position += Int(accumulator == instruction.operand ? instruction.ifTrue : instruction.ifFalse)
      case 0x06: return FilterVerdict(rawValue: instruction.operand)
      default:
        Issue.record("unknown instruction \(instruction)")
        return .allow
      }
    }
  }

  /// Numbers of a header, by name.
  private func numbers(_ header: String) throws -> [String: UInt32] {
    let text = try String(contentsOfFile: header, encoding: .utf8)
    var numbers: [String: UInt32] = [:]
    for line in text.split(separator: "\n") {
      let words = line.split(whereSeparator: \.isWhitespace)
      guard words.count == 3, words[0] == "#define" else { continue }
      // Some names stand for another name, which has the number.
      for prefix in ["__NR_", "__NR3264_"] where words[1].hasPrefix(prefix) {
        if let number = UInt32(words[2]) { numbers[String(words[1].dropFirst(prefix.count))] = number }
      }
    }
    return numbers
  }

  @Test("the numbers are those of the kernel's headers, for both architectures")
  func numbersEqualTheKernelsHeaders() throws {
    let headers = ["/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm-generic/unistd.h"]
    for (header, isX86) in zip(headers, [true, false]) where FileManager.default.fileExists(atPath: header) {
      let numbers = try numbers(header)
      for rule in filter.rules {
        #expect((isX86 ? rule.x86 : rule.arm) == numbers["\(rule.name)"], "\(rule.name)")
      }
    }
  }

  @Test("a call in no row of the table ends the process", arguments: SeccompFilter.Architecture.allCases)
  func unlistedCallsEndTheProcess(architecture: SeccompFilter.Architecture) throws {
    let known = Set(filter.rules.compactMap { architecture == .x86 ? $0.x86 : $0.arm })
    for number in UInt32(0)..<600 where !known.contains(number) {
      #expect(try verdict(number, on: architecture) == .kill)
    }
  }

  @Test("calls of another architecture, and of the x32 ABI, end the process")
  func callsOfAnotherArchitectureEndTheProcess() throws {
    for architecture in SeccompFilter.Architecture.allCases {
      for rule in filter.rules {
        guard let number = architecture == .x86 ? rule.x86 : rule.arm else { continue }
        #expect(try verdict(number, on: architecture, as: 0x4000_0003) == .kill)
        #expect(try verdict(number | 0x4000_0000, on: architecture) == .kill)
      }
    }
  }

  @Test("calls with other arguments than decoding needs are refused", arguments: SeccompFilter.Architecture.allCases)
  func refusesCallsWithOtherArguments(architecture: SeccompFilter.Architecture) throws {
    func verdict(_ name: String, _ arguments: UInt64...) throws -> FilterVerdict {
      let rule = try #require(filter.rules.first { "\($0.name)" == name })
      let number = try #require(architecture == .x86 ? rule.x86 : rule.arm)
      return try self.verdict(number, arguments, on: architecture)
    }
    #expect(try verdict("mmap", 0, 4_096, 3, 0x22) == .allow)
    #expect(try verdict("mmap", 0, 4_096, 3, 0x01) == .allow)
    #expect(try verdict("mmap", 0, 4_096, 7, 0x22) == .kill)
    #expect(try verdict("mmap", 0, 4_096, 3, 0x21) == .kill)
    #expect(try verdict("mmap", 0, 4_096, 3, 0x23) == .kill)
    #expect(try verdict("mmap", 0, 4_096, 3, 0x122) == .kill)
    #expect(try verdict("mprotect", 0, 4_096, 1) == .allow)
    #expect(try verdict("mprotect", 0, 4_096, 5) == .kill)
    #expect(try verdict("madvise", 0, 4_096, 4) == .allow)
    #expect(try verdict("madvise", 0, 4_096, 9) == .kill)
    #expect(try verdict("madvise", 0, 4_096, 100) == .kill)
    // Guard pages of stacks, as glibc 2.42 makes them.
    #expect(try verdict("madvise", 0, 4_096, 102) == .allow)
    #expect(try verdict("madvise", 0, 4_096, 103) == .allow)
    // The flags of pthread_create, of a fork, and of threads in namespaces of their own.
    #expect(try verdict("clone", 0x3D_0F00) == .allow)
    #expect(try verdict("clone", 17) == .kill)
    for namespace in [0x2_0000, 0x200_0000, 0x400_0000, 0x800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000] {
      #expect(try verdict("clone", 0x3D_0F00 | UInt64(namespace)) == .kill)
    }
    #expect(try verdict("clone3") == .fail(ENOSYS))
    #expect(try verdict("openat") == .fail(EACCES))
    #expect(try verdict("prctl", 15) == .allow)
    #expect(try verdict("prctl", 1) == .kill)
    #expect(try verdict("tgkill", UInt64(Self.process)) == .allow)
    #expect(try verdict("tgkill", UInt64(Self.process + 1)) == .kill)
    #expect(try verdict("tgkill", UInt64(bitPattern: -1)) == .kill)
    // isatty(3).
    #expect(try verdict("ioctl", 2, 0x5401) == .fail(ENOTTY))
    #expect(try verdict("write", 2) == .allow)
    #expect(try verdict("write", 3) == .kill)
    #expect(try verdict("writev", 3) == .kill)
    // The kernel ignores the upper half of a descriptor, and so does the filter.
    #expect(try verdict("write", 1 << 32 | 3) == .kill)
  }
}
