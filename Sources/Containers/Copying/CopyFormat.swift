// SPDX-License-Identifier: MPL-2.0
import AVFormat
import H26x

/// Changes the headers of a copy's video, and its description in the container.
package protocol HeaderEditing: Sendable {
  /// Edits the format of the access units that follow. Its configuration record decides their packaging. An empty
  /// record stands for a byte stream.
  ///
  /// - Throws: a `Failure` for a record that cannot be read, and an edit that the standard forbids.
  mutating func edit(_ format: MediaOutput.VideoFormat) throws(Failure) -> MediaOutput.VideoFormat
  /// Edits an access unit.
  ///
  /// - Throws: a `Failure` for an edit that the standard forbids.
  mutating func edit(_ accessUnit: [UInt8]) throws(Failure) -> [UInt8]
  /// Ends the stream.
  ///
  /// - Throws: a `Failure` if the stream lacks an access unit that was to be edited.
  func finish() throws(Failure)
  /// The metadata that has changed, a line for each kind, for the user.
  var metadataLines: [String] { get }
}

/// A stage of a copy: the formats of its video, with the requested edits. It decides whether one description
/// of the video is enough.
struct CopyFormat {
  /// Each access unit may bring its own parameter sets.
  let hasStartCodes: Bool
  /// Bytes cannot be rewritten, because the target is a pipe.
  private let isFinal: Bool
  /// The formats up to now, edited. An access unit has the number of its own.
  private(set) var formats: [MediaOutput.VideoFormat] = []
  /// The number of the format that the target describes; `nil` before it is chosen.
  private var chosen: Int?
  /// Changes the headers; `nil` if no changes are requested.
  private var editor: (any HeaderEditing)?
  /// The parameter sets that samples may not add to; `nil` if they may.
  private var described: DescribedParameterSets?

  init(_ plan: CopyPlan, _ editor: (any HeaderEditing)?) {
    self.editor = editor
    (hasStartCodes, isFinal) = (plan.container.hasStartCodes, !plan.target.isSeekable)
  }

  /// The format that the target describes: of the first access unit that is written; `nil` before it is chosen.
  var video: MediaOutput.VideoFormat? { chosen.map { formats[$0] } }

  /// Takes the format of the access units that follow. Returns it with the edits.
  mutating func begin(_ next: MediaOutput.VideoFormat) throws(Failure) -> MediaOutput.VideoFormat {
    let edited = try editor?.edit(next) ?? next
    formats.append(edited)
    return edited
  }

  /// Edits the headers of an access unit of the latest format.
  mutating func edit(_ accessUnit: inout MediaOutput.AccessUnit) throws(Failure) {
    accessUnit.format = formats.count - 1
    if editor != nil { accessUnit.bytes = try editor?.edit(accessUnit.bytes) ?? accessUnit.bytes }
  }

  /// Ends the stream.
  func finish() throws(Failure) { if !formats.isEmpty { try editor?.finish() } }

  /// The metadata that edits have changed, for the user.
  var editedMetadata: [String] { editor?.metadataLines ?? [] }

  /// Chooses the format that the target describes, if there is none yet.
  mutating func choose(_ number: Int) {
    guard chosen == nil, formats.indices.contains(number) else { return }
    chosen = number
    let video = formats[number]
    if !isFinal, !hasStartCodes, !video.allowsInBandParameterSets { described = DescribedParameterSets(video) }
  }

  /// Whether the description holds an access unit.
  func holds(_ accessUnit: borrowing MediaOutput.AccessUnit) -> Bool {
    guard let chosen, formats.indices.contains(accessUnit.format) else { return true }
    let (format, video) = (accessUnit.format, formats[chosen])
    return
      (format == chosen || hasStartCodes || video.allowsInBandParameterSets
      || formats[format].configuration == video.configuration)
      && described?.contain(thoseOf: accessUnit.bytes) != false
  }

  /// An access unit's bytes with all parameter sets up to there, so that decoding can begin with it.
  func completed(_ accessUnit: MediaOutput.AccessUnit) -> [UInt8] {
    guard formats.indices.contains(accessUnit.format) else { return accessUnit.bytes }
    return formats[accessUnit.format].roleReader(hasStartCodes: hasStartCodes)
      .completed(accessUnit.bytes, with: accessUnit.role.parameterSets)
  }

  /// The description of the video; `nil` before the first format. If the configuration record has no parameter sets,
  /// the description has the sets of the first access unit.
  func description(_ first: borrowing MediaOutput.AccessUnit) -> MediaOutput.VideoFormat? {
    guard var video else { return nil }
    if let frame = video.frameDuration, first.isField(of: frame) {
      video.frameDuration = TimeBase(frame.numerator, frame.denominator.multipliedReportingOverflow(by: 2).partialValue)
    }
    if video.allowsInBandParameterSets {
      video.describe(by: first.bytes)
      video.describeEdits()
    }
    video.describeDisplay(by: first.bytes, hasStartCodes: hasStartCodes)
    return video
  }
}

extension MediaOutput.AccessUnit {
  /// Whether it lasts half a frame. Then it is a field, and so are the others if fields are access units.
  fileprivate func isField(of frame: TimeBase) -> Bool {
    let whole = frame.nanoseconds(1)
    return duration > 0 && abs(2 * duration - whole) <= whole / 50
  }
}
