// SPDX-License-Identifier: MPL-2.0

/// A row of the filter's table: a system call and when it is let through.
struct SystemCallRule {
  /// A condition on an argument, of which the lower 32 bits are looked at: the kernel ignores the others of all that
  /// are tested.
  struct Condition {
    /// The argument, from 0.
    let argument: Int
    /// The bits that are compared.
    let mask: UInt32
    /// The values that the bits must match, or must not match.
    let values: [UInt32]
    let isWanted: Bool

    /// The argument is one of `values`.
    static func argument(_ argument: Int, isOneOf values: UInt32...) -> Condition {
      Condition(argument: argument, mask: .max, values: values, isWanted: true)
    }
    /// None of these bits is set.
    static func argument(_ argument: Int, hasNone bits: UInt32) -> Condition {
      Condition(argument: argument, mask: bits, values: [0], isWanted: true)
    }
    /// All these bits are set.
    static func argument(_ argument: Int, hasAll bits: UInt32) -> Condition {
      Condition(argument: argument, mask: bits, values: [bits], isWanted: true)
    }
    /// One of these bits at least is not set.
    static func argument(_ argument: Int, lacksOneOf bits: UInt32) -> Condition {
      Condition(argument: argument, mask: bits, values: [bits], isWanted: false)
    }
  }

  /// The name in the headers, without `__NR_`.
  let name: StaticString
  /// The number on x86-64, if the call exists there.
  let x86: UInt32?
  /// The number on aarch64, if the call exists there.
  let arm: UInt32?
  /// The verdict if all conditions hold; otherwise the call ends the process.
  let verdict: FilterVerdict
  let conditions: [Condition]

  init(
    _ name: StaticString, x86: UInt32?, arm: UInt32?, _ verdict: FilterVerdict = .allow, where conditions: Condition...
  ) {
    self.name = name
    self.x86 = x86
    self.arm = arm
    self.verdict = verdict
    self.conditions = conditions
  }
}
