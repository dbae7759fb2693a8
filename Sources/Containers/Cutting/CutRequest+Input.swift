// SPDX-License-Identifier: MPL-2.0
import AVFormat
package import GStreamer
package import SystemPackage

extension CutRequest {
  /// The parts of a file.
  ///
  /// - Parameters:
  ///   - framerate: the frame rate of a byte stream that has none.
  ///   - planner: has read the file, if that was needed.
  /// - Throws: a `Failure` if the file cannot be read, or lacks a part.
  package func ranges(
    of input: InputFile, framerate: Fraction? = nil, _ planner: CutPlanner? = nil
  ) async throws(Failure) -> [ResolvedRange] {
    func reading(untilFirstPicture isShort: Bool) async throws(Failure) -> CutPlanner {
      if let planner { return planner }
      return try await CutPlanner(reading: input, framerate: framerate, untilFirstPicture: isShort)
    }
    let duration = try input.isRaw || input.size == nil ? nil : input.videoTrack().duration
    if needsPictureTimes || needsDuration && duration == nil {
      let planner = try await reading(untilFirstPicture: false)
      return try ranges(duration: planner.duration, pictureTimes: planner.pictureTimes)
    }
    let chapters = self == .chapters ? try await chapters(of: input, reading(untilFirstPicture: true)) : []
    return try ranges(duration: duration.map { Int64(clamping: $0.nanoseconds) }, chapters: chapters)
  }

  private func chapters(of input: InputFile, _ planner: CutPlanner) throws(Failure) -> [CutChapter] {
    guard !input.isRaw, let origin = planner.origin else { return [] }
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
