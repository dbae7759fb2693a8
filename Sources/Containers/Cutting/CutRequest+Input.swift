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
    return try ranges(duration: duration.map { Int64(clamping: $0.nanoseconds) }, chapters: chapters(of: input))
  }

  /// The parts of a file that was read.
  ///
  /// - Throws: a `Failure` if the file lacks a part.
  package func ranges(of input: InputFile, _ planner: CutPlanner) throws(Failure) -> [ResolvedRange] {
    try ranges(duration: planner.duration, chapters: chapters(of: input), pictureTimes: planner.pictureTimes)
  }

  private func chapters(of input: InputFile) throws(Failure) -> [CutChapter] {
    guard self == .chapters, !input.isRaw else { return [] }
    let context = try OtherStreams(ContainerFile(input, ReadingStatus())).context
    let origin = context.start.map { $0.multipliedReportingOverflow(by: 1000).partialValue } ?? 0
    return context.chapters.map { CutChapter($0, origin: origin) }
  }
}

extension CutList {
  /// Reads a file.
  ///
  /// - Throws: a `Failure` if the file cannot be read, or a line is none of a list.
  package init(file: FilePath) throws(Failure) {
    try self.init(OpenFile.contents(of: file, limit: Self.sizeLimit), name: file.string)
  }
}
