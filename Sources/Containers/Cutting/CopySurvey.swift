// SPDX-License-Identifier: MPL-2.0
import GStreamer
import SystemPackage

/// The access units of a file in decoding order, without their bytes.
struct CopySurvey: Sendable {
  let accessUnits: [MediaOutput.AccessUnit]
  /// The range that the file shows; `nil` for everything.
  let shown: ShownRange?
  /// When each picture is presented, in nanoseconds of the media, ascending. A frame of two fields is one picture.
  let pictureTimes: [Int64]
  /// The time from the first picture to the end of the last one; `nil` without any.
  let duration: ClockTime?

  /// Reads the whole file.
  ///
  /// - Parameter framerate: the frame rate of a byte stream that has none.
  /// - Throws: a `Failure` if the file cannot be read, or pictures have no times.
  init(_ input: InputFile, framerate: Fraction?) async throws(Failure) {
    guard input.size != nil else {
      throw Failure("\(input.name): the numbers of pictures need a file, because it is read twice; a pipe is read once")
    }
    (accessUnits, shown) = try await Copy.survey(
      CopyPlan(input: input, target: OutputFile("/dev/null", force: true), container: .annexb, framerate: framerate))
    var window = Window(Window.Bounds(mode: .hidden), of: shown)
    var kept: [MediaOutput.AccessUnit] = []
    do throws(CopyRefusal) {
      for accessUnit in accessUnits { kept += try window.take(accessUnit) }
      kept += try window.finish()
    } catch {
      // Reading began with the beginning of the file, which no window refuses.
    }
    let pictures = kept.filter { !$0.role.isSecondField && window.shown?.shows($0.presentation, for: 1) != false }
    pictureTimes = pictures.map(\.presentation).sorted()
    let end = pictures.lazy.map { $0.presentation &+ max($0.duration, 1) }.max()
    duration = if let first = pictureTimes.first, let end { ClockTime(positive: end &- first) } else { nil }
  }
}
