// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import Slices

/// An access unit whose slices are to be verified.
struct SliceTask: Sendable {
  /// The access unit's number in the session.
  let index: UInt64
  /// The caller's tag of the access unit.
  let tag: UInt64
  /// `nal_unit_type` of the first slice.
  let nalUnitType: UInt8?
  /// Its bytes, as the codec gets them.
  let packet: Packet
  /// The parameter sets up to it.
  let reading: AccessUnitDescription.Reading
  /// Other pictures refer to it.
  let isReference: Bool
  /// Its references are known, by its reference picture set.
  let hasReferenceSets: Bool
  /// It is the second field of the frame that the access unit before it begins.
  let isSecondField: Bool
  /// The number of the frame thread that decodes it; nil if a device does.
  let thread: Int?
}

/// Slices of an access unit are damaged. Sound access units have no verdict.
struct SliceVerdict: Sendable {
  /// The kind and place of damage.
  enum Fault: Sendable, Equatable {
    /// The first damage in slice `number` of the access unit, counted from 0.
    case damage(SliceDamage, slice: Int)
    /// All slices are sound, but do not cover the picture.
    case missing(blocks: Int)
    /// The access unit is sound, but libavcodec mixes coefficients of an earlier one into its picture.
    case leftovers
  }

  let task: SliceTask
  /// The first fault.
  let first: Fault
  /// The number of damaged slices. If 0, the picture is wrong all the same.
  let count: Int
}

extension DecodeError {
  /// Damage in slices, with its place.
  init(_ verdict: SliceVerdict) {
    let detail =
      switch verdict.first {
      case .damage(let damage, let number): "slice \(number) is damaged\(damage.place)"
      case .missing(let blocks): "slices are missing: \(blocks) blocks are in none"
      case .leftovers: "it was decoded with coefficients of an earlier, damaged slice"
      }
    self.init(
      .badData, tag: verdict.task.tag, accessUnitNumber: verdict.task.index, nalUnitType: verdict.task.nalUnitType,
      detail: detail)
  }
}

extension SliceDamage {
  /// As in " at block 93, bit 4711: end_of_slice_flag (7.3.4)".
  fileprivate var place: String {
    let block = block.map { " at block \($0), bit \(bitOffset)" } ?? " at bit \(bitOffset)"
    return "\(block): \(element) (\(clause))"
  }
}
