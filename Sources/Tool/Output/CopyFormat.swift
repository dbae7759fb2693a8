// SPDX-License-Identifier: MPL-2.0
import H26x

/// The first stage of a copy: the format of its video, with the edits that were asked for. It knows what one description
/// of the video can hold.
struct CopyFormat {
  /// The source's name, for messages.
  private let source: String
  private let edits: [StreamEdit]
  /// Each access unit may bring its own parameter sets.
  private let hasStartCodes: Bool
  /// What was written into a pipe cannot be written anew.
  private let isFinal: Bool
  /// Of the first access unit that is written.
  private(set) var video: MediaOutput.VideoFormat?
  /// Changes the headers; `nil` where nothing is to be changed, and before the first format.
  private(set) var edit: VideoEdit?
  /// What samples may not add to; `nil` where they may.
  private var described: DescribedParameterSets?
  /// The description of the video does not hold what comes next.
  private var isOutdated = false

  init(_ source: InputFile, _ target: OutputFile, _ container: TargetContainer, _ edits: [StreamEdit]) {
    (self.source, self.edits) = (source.name, edits)
    (hasStartCodes, isFinal) = (container.hasStartCodes, !target.isSeekable)
  }

  /// The format that the copy has, by that of the source.
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

  /// Whether the description holds an access unit of the format that was begun last.
  func holds(_ accessUnit: borrowing MediaOutput.AccessUnit) -> Bool {
    !isOutdated && described?.contain(thoseOf: accessUnit.bytes) != false
  }

  /// Whether the description holds an access unit of another format.
  func holds(_ accessUnit: borrowing MediaOutput.AccessUnit, of format: MediaOutput.VideoFormat) -> Bool {
    video.map { isHeld(format, by: $0) } != false && described?.contain(thoseOf: accessUnit.bytes) != false
  }

  /// The description of the video, with the parameter sets of its first access unit where the configuration record has
  /// none; `nil` before the first format.
  func description(_ first: borrowing MediaOutput.AccessUnit) -> MediaOutput.VideoFormat? {
    guard var video, video.allowsInBandParameterSets else { return video }
    video.describe(by: first.bytes)
    edit?.describe(&video)
    return video
  }
}
