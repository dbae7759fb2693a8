// SPDX-License-Identifier: MPL-2.0

/// An instruction of a filter program (classic BPF, linux/filter.h), among those that filters of system calls need.
struct FilterInstruction: Hashable {
  /// The operation.
  let code: UInt16
  /// Instructions to skip if a comparison holds.
  let ifTrue: UInt8
  /// Instructions to skip if it does not.
  let ifFalse: UInt8
  /// The operand.
  let operand: UInt32

  private init(code: UInt16, ifTrue: UInt8 = 0, ifFalse: UInt8 = 0, operand: UInt32) {
    self.code = code
    self.ifTrue = ifTrue
    self.ifFalse = ifFalse
    self.operand = operand
  }

  /// Loads 32 bits of the description of a call (`struct seccomp_data`, linux/seccomp.h).
  static func load(offset: UInt32) -> FilterInstruction { FilterInstruction(code: 0x20, operand: offset) }
  /// Keeps the bits of `mask` in the loaded value.
  static func and(_ mask: UInt32) -> FilterInstruction { FilterInstruction(code: 0x54, operand: mask) }
  /// Skips `ifTrue` instructions if the loaded value is equal to `value`, and `ifFalse` instructions otherwise.
  static func skip(ifEqual value: UInt32, _ ifTrue: UInt8, otherwise ifFalse: UInt8) -> FilterInstruction {
    FilterInstruction(code: 0x15, ifTrue: ifTrue, ifFalse: ifFalse, operand: value)
  }
  /// Ends the program: what becomes of the call.
  static func end(_ verdict: FilterVerdict) -> FilterInstruction {
    FilterInstruction(code: 0x06, operand: verdict.rawValue)
  }
}
