// SPDX-License-Identifier: MPL-2.0
import AVFormat
import H26x

/// The first stage of a copy: the format of its video, with the requested edits. It decides whether one description
/// of the video is enough.
struct CopyFormat {
  /// The source's name, for messages.
  private let source: String
  let edits: StreamEditList
  /// Each access unit may bring its own parameter sets.
  private let hasStartCodes: Bool
  /// Bytes cannot be rewritten, because the target is a pipe.
  private let isFinal: Bool
  /// The format of the first access unit that is written.
  private(set) var video: MediaOutput.VideoFormat?
  /// Changes the headers; `nil` if no changes are requested, and before the first format.
  private(set) var edit: VideoEdit?
  /// The parameter sets that samples may not add to; `nil` if they may.
  private var described: DescribedParameterSets?
  /// The description of the video does not hold the access units that follow.
  private var isOutdated = false

  init(_ source: InputFile, _ target: OutputFile, _ container: TargetContainer, _ edits: StreamEditList) {
    (self.source, self.edits) = (source.name, edits)
    (hasStartCodes, isFinal) = (container.hasStartCodes, !target.isSeekable)
  }

  /// The format of the copy, derived from the source's.
  mutating func edited(_ format: MediaOutput.VideoFormat) throws(Failure) -> MediaOutput.VideoFormat {
    guard !edits.isEmpty else { return format }
    var (edit, format) = (edit ?? VideoEdit(format.codec, edits, source: source), format)
    format.configuration = try edit.edit(configuration: format.configuration)
    edit.describe(&format)
    self.edit = edit
    return format
  }

  /// Edits the headers of an access unit.
  mutating func edit(_ accessUnit: inout MediaOutput.AccessUnit) throws(Failure) {
    if edit != nil { accessUnit.bytes = try edit?.edit(accessUnit.bytes) ?? accessUnit.bytes }
  }

  /// Takes the format of the access units that follow, edited.
  mutating func begin(_ next: MediaOutput.VideoFormat) {
    guard let video else {
      video = next
      if !isFinal, !hasStartCodes, !next.allowsInBandParameterSets { described = DescribedParameterSets(next) }
      return
    }
    isOutdated = !isHeld(next, by: video)
  }

  private func isHeld(_ next: MediaOutput.VideoFormat, by video: MediaOutput.VideoFormat) -> Bool {
    hasStartCodes || video.allowsInBandParameterSets || next.configuration == video.configuration
  }

  /// Whether the description holds an access unit of the latest format.
  func holds(_ accessUnit: borrowing MediaOutput.AccessUnit) -> Bool {
    !isOutdated && described?.contain(thoseOf: accessUnit.bytes) != false
  }

  /// Whether the description holds an access unit of another format.
  func holds(_ accessUnit: borrowing MediaOutput.AccessUnit, of format: MediaOutput.VideoFormat) -> Bool {
    video.map { isHeld(format, by: $0) } != false && described?.contain(thoseOf: accessUnit.bytes) != false
  }

  /// The description of the video; `nil` before the first format. If the configuration record has no parameter sets,
  /// the description has the sets of the first access unit.
  func description(_ first: borrowing MediaOutput.AccessUnit) -> MediaOutput.VideoFormat? {
    guard var video else { return nil }
    if let frame = video.frameDuration, first.isField(of: frame) {
      video.frameDuration = TimeBase(frame.numerator, frame.denominator.multipliedReportingOverflow(by: 2).partialValue)
    }
    guard video.allowsInBandParameterSets else { return video }
    video.describe(by: first.bytes)
    edit?.describe(&video)
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
