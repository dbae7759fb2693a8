// SPDX-License-Identifier: MPL-2.0
package import GStreamer
import SystemPackage

extension CutPlanner {
  /// Reads the roles and times of a file.
  ///
  /// - Parameters:
  ///   - framerate: the frame rate of a byte stream that has none.
  ///   - isShort: whether no more than the beginning is read, for ``origin``.
  /// - Throws: a `Failure` if the file cannot be read, or pictures have no times.
  package init(
    reading input: InputFile, framerate: Fraction? = nil, untilFirstPicture isShort: Bool = false
  ) async throws(Failure) {
    guard input.size != nil else {
      throw Failure("\(input.name): this needs a file, because it is read twice; a pipe is read once")
    }
    let (accessUnits, shown, parts, obstacle, openObstacle) = try await Copy.survey(
      CopyPlan(
        input: input, target: OutputFile(FilePath("/dev/null"), force: true), container: .annexb, framerate: framerate),
      untilFirstPicture: isShort)
    self.init(of: shown, parts: parts)
    (self.obstacle, self.openObstacle) = (obstacle, openObstacle)
    for accessUnit in accessUnits {
      add(presentation: accessUnit.presentation, duration: accessUnit.duration, role: accessUnit.role)
    }
  }

  /// Checks whether ranges of a file can be cut.
  ///
  /// - Throws: the `Failure` of such a cut.
  package func check(_ ranges: [ResolvedRange], of input: InputFile) throws(Failure) {
    for range in ranges {
      let bounds = Window.Bounds(start: range.start, end: range.end, mode: .exact)
      _ = try CopySource.bounds(bounds, within: parts, of: input)
    }
  }
}
