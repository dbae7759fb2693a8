// SPDX-License-Identifier: MPL-2.0
import AVFormat
package import GStreamer
package import SystemPackage

extension CutRequest {
  /// The parts of a file.
  ///
  /// - Parameter framerate: the frame rate of a byte stream that has none.
  /// - Throws: a `Failure` if the file cannot be read, or lacks a part.
  package func ranges(of input: InputFile, framerate: Fraction? = nil) async throws(Failure) -> [ResolvedRange] {
    let duration = try input.isRaw || input.size == nil ? nil : input.videoTrack().duration
    if needsPictureTimes || needsDuration && duration == nil {
      return try await ranges(of: input, CutPlanner(reading: input, framerate: framerate))
    }
    var chapters: [CutChapter] = []
    if self == .chapters, !input.isRaw {
      let planner = try await CutPlanner(reading: input, framerate: framerate, untilFirstPicture: true)
      chapters = try self.chapters(of: input, planner)
    }
    return try ranges(duration: duration.map { Int64(clamping: $0.nanoseconds) }, chapters: chapters)
  }

  /// The parts of a file that was read.
  ///
  /// - Throws: a `Failure` if the file lacks a part.
  package func ranges(of input: InputFile, _ planner: CutPlanner) throws(Failure) -> [ResolvedRange] {
    try ranges(duration: planner.duration, chapters: chapters(of: input, planner), pictureTimes: planner.pictureTimes)
  }

  private func chapters(of input: InputFile, _ planner: CutPlanner) throws(Failure) -> [CutChapter] {
    guard self == .chapters, !input.isRaw, let origin = planner.origin else { return [] }
    let file = try ContainerFile(input, ReadingStatus())
    let shift = try ContainerReader.reader(file).shift
    return try OtherStreams(file).context.chapters.map { CutChapter($0, origin: origin &+ shift) }
  }
}

extension CutList {
  /// Reads a file, or standard input, which is `-`.
  ///
  /// - Throws: a `Failure` if the file cannot be read, or a line is none of a list.
  package init(file: FilePath) throws(Failure) {
    let isStandardInput = file == "-"
    try self.init(
      OpenFile.contents(of: isStandardInput ? "/dev/stdin" : file, limit: Self.sizeLimit),
      name: isStandardInput ? "standard input" : file.string)
  }
}
