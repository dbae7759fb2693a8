// SPDX-License-Identifier: MPL-2.0
import H26x

/// Checks the order of the NAL units of each access unit (H.264 7.4.1.2.3, H.265 7.4.2.4.4), and that its delimiter and
/// its picture agree.
struct NALUnitOrderRules<Codec: CheckedCodec> {
  private var hasPicture = false
  private var hasEnded = false
  /// The picture type of the access unit delimiter.
  private var announced: AnnouncedType?
  /// Whether a sequence ended before this access unit, and no picture followed.
  private var followsEnd = false

  mutating func beginAccessUnit() {
    followsEnd = followsEnd || hasEnded
    (hasPicture, hasEnded, announced) = (false, false, nil)
  }

  /// Takes a VCL NAL unit.
  ///
  /// - Parameter isStart: whether it is the first slice of a picture.
  mutating func takePicture(_ unit: NALUnitRecord, isStart: Bool, log: inout FindingLog) {
    hasPicture = true
    guard isStart else { return }
    if followsEnd, !Codec.NALUnitType(rawValue: unit.type).isRandomAccessPoint {
      log.report(.endOfStream, "another picture after the end of a sequence", expected: "an IDR or IRAP picture")
    }
    followsEnd = false
  }

  /// Takes the picture type of an access unit delimiter.
  mutating func takeDelimiter(_ type: UInt32?, _ unit: NALUnitRecord, log: inout FindingLog) {
    // A sample with two fields may have two delimiters.
    if let type { announced = announced == nil ? AnnouncedType(rawValue: type) : .any }
    if let error = unit.error {
      log.report(.trailingBits, ReportText(error), expected: "an access unit delimiter of one byte")
    }
  }

  /// Checks the place of a NAL unit.
  ///
  /// - Parameters:
  ///   - isFirst: whether it is the first of its access unit.
  ///   - isInSample: whether the access unit is a sample of a container.
  mutating func check(
    _ unit: NALUnitRecord, _ role: NALUnitRole, isFirst: Bool, isInSample: Bool, log: inout FindingLog
  ) {
    guard unit.layerID ?? 0 == 0 else { return }
    switch role {
    // A sample may have two fields, each with its delimiter.
    case .accessUnitDelimiter where !isFirst && !(isInSample && hasPicture):
      log.report(
        .order, "an access unit delimiter after other NAL units", expected: "the first place in its access unit")
    case .suffixSEI where !hasPicture, .filler where !hasPicture:
      log.report(.order, "\(unit.name) before the picture", expected: "a place after the first slice")
    default:
      guard hasEnded, role != .end else { break }
      let type = Codec.NALUnitType(rawValue: unit.type)
      if type == .dolbyVisionRPU || type == .dolbyVisionEnhancementLayer {
        log.report(.rpuAfterEnd, "\(unit.name) after the end of the sequence", expected: "a place before it")
      } else {
        log.report(.order, "\(unit.name) after the end of the sequence", expected: "another access unit")
      }
    }
    if role == .end { hasEnded = true }
  }

  /// Checks the whole access unit.
  ///
  /// - Parameter letter: the type of its picture; nil without a slice that can be read.
  func endAccessUnit(letter: UInt8?, log: inout FindingLog) {
    if !hasPicture { log.report(.noPicture, "an access unit without a picture", expected: "a picture") }
    guard let announced, let letter, !Codec.Rules.allows(letter, after: announced) else { return }
    log.report(
      .pictureType, "a \(letter == 0x42 ? "B" : "P") picture after a delimiter of type \(announced.rawValue)",
      expected: "type \(letter == 0x42 ? 2 : 1)")
  }
}
