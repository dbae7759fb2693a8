// SPDX-License-Identifier: MPL-2.0
import AVFormat
package import GStreamer
import H26x
import SystemPackage

/// An input of a join, as far as it is read before the copy begins.
package struct JoinInput: Sendable {
  package let file: InputFile
  let codec: FormatDescription.Codec
  /// The first format.
  let format: FormatDescription
  /// The configuration records that the video has up to where it was read, at least one.
  let records: [[UInt8]]
  /// Ticks a second of its times; `nil` for a byte stream.
  let timescale: Int32?
  let frameRate: Fraction?
  /// See ``VideoTrack/direction``.
  let direction: String?
  /// The parts that its edit list shows; empty if it shows everything.
  let parts: [ShownRange]
  /// Whether it has pictures that its edit list may hide.
  let hidesPictures: Bool
  /// All access units; `nil` if they were not read.
  let survey: Copy.Survey?

  /// Reads as much of a file as a join needs: a container's description of the video, or all access units if there is
  /// none.
  ///
  /// - Parameters:
  ///   - container: of the target.
  ///   - framerate: of a byte stream that has none.
  ///   - surveys: whether all access units are read in any case.
  /// - Throws: a `Failure` if the file cannot be read, or is a pipe.
  package init(
    _ file: InputFile, for container: TargetContainer, framerate: Fraction?, surveys: Bool
  ) async throws(Failure) {
    guard file.size != nil else {
      throw Failure("\(file.name): join needs files, because each is read twice; a pipe is read once")
    }
    self.file = file
    var (track, parts, hidesPictures): (VideoTrack?, [ShownRange], Bool) = (nil, [], false)
    if !file.isRaw {
      let source = try ContainerFile(file, ReadingStatus())
      let reader = try ContainerReader.reader(source)
      source.hasAllReaders()
      (track, parts) = (reader.track, reader.parts)
      hidesPictures = reader.hidesFront || parts.count > 1 || parts.first?.end != nil
    }
    (timescale, direction) = (track?.timescale, track?.direction)
    (self.parts, self.hidesPictures) = (parts, hidesPictures)
    if !surveys, let track, let record = Self.completeRecord(of: track),
      let format = FormatDescription(track.codec, configuration: record)
    {
      (codec, self.format, records, frameRate, survey) = (track.codec, format, [record], track.framerate, nil)
      return
    }
    // Byte streams have no times that matter.
    let rate = framerate ?? (container == .annexb ? Fraction(25, 1) : nil)
    let contents = try await Copy.contents(
      CopyPlan(
        input: file, target: OutputFile(FilePath("/dev/null"), force: true),
        container: container.hasStartCodes ? .mkv : container, framerate: rate),
      untilFirstPicture: !surveys && container.hasStartCodes)
    guard let first = contents.formats.first,
      let format = FormatDescription(first.codec, configuration: first.configuration)
    else { throw Failure(file.noVideo) }
    (codec, self.format, records) = (first.codec, format, contents.formats.map(\.configuration))
    frameRate = track?.framerate ?? first.frameDuration.map { Fraction($0.denominator, $0.numerator) }
    survey = surveys ? contents.survey : nil
  }

  /// The configuration record of a track, if slices can be read with its parameter sets.
  private static func completeRecord(of track: VideoTrack) -> [UInt8]? {
    guard let record = track.packaging.configuration else { return nil }
    func isComplete<Codec: JoinSyntax>(_ codec: Codec.Type) -> Bool {
      var sets = Codec.ParameterSets()
      do throws(BitstreamError) {
        for nalUnit in try Codec.ConfigurationRecord(record.span).nalUnits
        where Codec.role(of: nalUnit.span).isParameterSet {
          try sets.insert(nalUnit.span)
        }
      } catch { return false }
      return sets.canReadSlices
    }
    let isComplete =
      switch track.codec {
      case .h264: isComplete(H264.self)
      case .h265: isComplete(H265.self)
      }
    return isComplete ? record : nil
  }

  /// The ranges that the copy has of it, one for each part that is shown.
  ///
  /// - Parameter mode: how each begins.
  func bounds(_ mode: Window.Bounds.Mode) -> [Window.Bounds] {
    guard let origin = parts.first?.time, parts.count > 1 else { return [Window.Bounds(mode: mode)] }
    return parts.map { part in
      let start = part.time &- origin
      return Window.Bounds(start: start, end: part.end.map { start &+ ($0 &- part.start) }, mode: mode)
    }
  }

  /// All parameter sets.
  func parameterSets<Codec: JoinSyntax>(_ codec: Codec.Type) throws(BitstreamError) -> [[UInt8]] {
    var sets: [[UInt8]] = []
    for record in records {
      for nalUnit in try Codec.ConfigurationRecord(record.span).nalUnits
      where Codec.role(of: nalUnit.span).isParameterSet && !sets.contains(nalUnit) {
        sets.append(nalUnit)
      }
    }
    return sets
  }
}
