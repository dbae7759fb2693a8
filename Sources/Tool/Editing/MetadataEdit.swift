// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x

/// The consequences of edits that remove or convert metadata: for the container's description of the video, and for the
/// user.
struct MetadataEdit: Sendable {
  /// The kinds that are removed.
  private let removed: [RemovableMetadata]
  /// Whether Dolby Vision is removed even if pictures have wrong colours without it.
  private let isForced: Bool
  /// What becomes of the container's configuration of Dolby Vision.
  private let record: DolbyVisionRecord

  /// - Parameters:
  ///   - renewsRecord: whether the container's configuration of Dolby Vision is made from the stream.
  ///   - inserted: what becomes of it if Dolby Vision is inserted; `nil` if not.
  init(_ edits: [StreamEdit], renewsRecord: Bool, inserting inserted: DolbyVisionRecord?) {
    let removals = edits.compactMap(\.removal)
    removed = RemovableMetadata.allCases.filter { kind in removals.contains { $0.kind == kind } }
    isForced = removals.contains { $0.isForced }
    if let inserted {
      record = inserted
    } else if removed.contains(.dolbyVision) {
      record = .removed
    } else if edits.contains(.convertDolbyVision) {
      record = .converted
    } else {
      record = renewsRecord ? .renewed : .copied
    }
  }

  /// Whether only the container changes.
  var changesRecordOnly: Bool { record == .renewed }
  /// Whether the container's configuration of Dolby Vision is made from the stream.
  var makesRecord: Bool { if case .inserted = record { true } else { record == .renewed } }

  /// Checks the source, and describes the copy.
  ///
  /// - Throws: a `Failure` if the pictures have wrong colours without metadata that is removed, by the container's
  ///   record.
  func describe(_ format: inout MediaOutput.VideoFormat, source: String) throws(Failure) {
    try check(format.statedDolbyVision, source: source)
    (format.dolbyVision, format.removedMetadata) = (record, Set(removed.filter { $0 != .dolbyVision || !makesRecord }))
  }

  private func check(_ stated: DolbyVision.Configuration?, source: String) throws(Failure) {
    guard record == .removed, !isForced, let stated, stated.isIncompatible else { return }
    throw Failure("\(source): profile \(stated.profile): \(StreamEditError.incompatibleBaseLayer.words)")
  }

  /// The new configuration of Dolby Vision, for the user; `nil` if it stays as it is.
  ///
  /// - Parameters:
  ///   - accessUnit: the first one, edited.
  ///   - hasStartCodes: whether it has start codes, not length prefixes.
  /// - Throws: a `Failure` if it cannot be made, or if the metadata must not be removed.
  func recordLine(
    _ format: MediaOutput.VideoFormat, _ accessUnit: [UInt8], hasStartCodes: Bool, source: String
  ) throws(Failure) -> String? {
    try check(format.statedDolbyVision, source: source)
    guard record != .copied else { return nil }
    guard let new = format.newDolbyVision(record, accessUnit, hasStartCodes: hasStartCodes) else {
      guard record != .renewed else { throw Failure("\(source): \(DolbyVisionRecord.lacksRPU)") }
      return format.statedDolbyVision == nil ? nil : "container: configuration of Dolby Vision: removed"
    }
    return "container: configuration of Dolby Vision: now profile \(new.profile).\(new.compatibilityID), "
      + "level \(new.level)"
  }

  /// Ends the stream.
  ///
  /// - Throws: a `Failure` if there was nothing to convert.
  func finish(_ dolbyVision: DolbyVisionChanges, source: String) throws(Failure) {
    guard record == .converted, dolbyVision.convertedRPUs == 0 else { return }
    throw Failure(
      "\(source): no RPU of Dolby Vision; dovi_tool converts an enhancement layer that is in a track of its own")
  }

  /// A line for each kind of metadata.
  ///
  /// - Parameter includesNone: whether kinds that the stream does not have get a line, too.
  func lines(_ messages: SEIChanges, _ dolbyVision: DolbyVisionChanges, includesNone: Bool) -> [String] {
    var lines: [String] = []
    for kind in removed {
      let count = kind == .dolbyVision ? dolbyVision.removedRPUs : messages.removedMetadata[kind] ?? 0
      let layer = kind == .dolbyVision ? dolbyVision.removedLayerNALUnits : 0
      guard includesNone || count > 0 || layer > 0 else { continue }
      var line = "\(kind.name): \(count) removed"
      if layer > 0 { line += ", with \(Text.count(layer, "NAL unit")) of the enhancement layer" }
      if kind == .dolbyVision, dolbyVision.removedIncompatibleRPUs > 0 {
        line += "; pictures of profile 5 have wrong colours now"
      }
      lines.append(line)
    }
    if dolbyVision.convertedRPUs > 0 {
      let layer = Text.count(dolbyVision.removedLayerNALUnits, "NAL unit")
      lines.append(
        "\(RemovableMetadata.dolbyVision.name): \(dolbyVision.convertedRPUs) converted to profile 8.1, and \(layer) of "
          + "the enhancement layer removed")
    }
    return lines
  }
}

extension StreamEdit {
  /// The metadata that it removes, and whether by force; `nil` for another edit.
  fileprivate var removal: (kind: RemovableMetadata, isForced: Bool)? {
    if case .removeMetadata(let kind, isForced: let isForced) = self { (kind, isForced) } else { nil }
  }
}
