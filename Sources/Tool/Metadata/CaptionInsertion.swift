// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import GStreamer
import H26x
import SystemPackage

/// How much later than its time codes a caption file is inserted.
struct CaptionShift: ExpressibleByArgument, Sendable {
  private enum Amount {
    case frames(Int)
    case time(ClockTime)
    /// As the file counts: 01:00:00:00.
    case timeCode([UInt8])
  }

  private let isNegative: Bool
  private let amount: Amount

  /// Reads a number of pictures, a time such as `1:30` or `0.5`, or a time code, each with a sign or without.
  init?(argument: String) {
    let digits = argument.drop { $0 == "-" || $0 == "+" }
    guard argument.utf8.count - digits.utf8.count <= 1 else { return nil }
    isNegative = argument.first == "-"
    if let number = Int(digits), digits.allSatisfy({ $0.isASCII && $0.isNumber }) {
      guard number <= 1 << 30 else { return nil }
      amount = .frames(number)
    } else if digits.utf8.count(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ";") }) == 3 {
      amount = .timeCode(Array(digits.utf8))
    } else if let time = ClockTime(text: digits) {
      amount = .time(time)
    } else {
      return nil
    }
  }

  /// The number of frames; `nil` for a time code that the file cannot have.
  func frames(at rate: CaptionRate, _ timeCode: CaptionTimeCode) -> Int? {
    let frames: Int
    switch amount {
    case .frames(let number): frames = number
    case .time(let time):
      let seconds = Double(time.nanoseconds) / 1e9
      frames = Int((seconds * Double(rate.ratio.numerator) / Double(rate.ratio.denominator)).rounded())
    case .timeCode(let text):
      guard let found = timeCode.frame(of: text[...]) else { return nil }
      frames = found.frame
    }
    return isNegative ? -frames : frames
  }
}

extension CaptionFile {
  /// Reads a file in MCC or SCC; `-` is standard input.
  init(path: FilePath) throws(Failure) {
    let input = try InputFile(path, spoolsMP4: false)
    let bytes = try InputBytes(input)
    var reader = CaptionFileReader()
    while true {
      let chunk = try input.read(bytes)
      do throws(CaptionFileError) {
        guard !chunk.isEmpty else {
          self = try reader.finish()
          return
        }
        try reader.read(chunk)
      } catch { throw Failure("\(input.name): \(error.text)") }
    }
  }
}

/// The captions of a file, for the pictures of a stream.
struct CaptionMessages: PictureMessages {
  private let path: FilePath
  private let file: CaptionFile
  private let rate: CaptionRate
  private let shift: Int
  /// Frames of the file, with captions, that are not in the stream.
  private let outsideCount: Int
  /// Frames in the stream with more messages than pictures.
  private let joinedCount: Int
  /// Of each picture in the order of presentation: its frame and two bits; `nil` if each picture is a frame.
  private let places: [UInt32]?

  /// The bits of a place: whether it is another picture of the frame before, and whether another one follows.
  private static let (isOther, hasOther): (UInt32, UInt32) = (1, 2)

  /// - Parameters:
  ///   - path: of the file, for messages.
  ///   - shift: how much later it is inserted; `nil` for as its time codes are, which begin with the first frame.
  ///   - force: whether captions outside of the stream are left out.
  ///   - survey: of the stream.
  /// - Throws: a `Failure` for a file of another rate, or with time codes outside of the stream.
  init(
    _ file: CaptionFile, path: FilePath, shift: CaptionShift?, force: Bool, _ survey: CaptionSurvey
  ) throws(Failure) {
    let source = survey.source
    rate = try survey.rate
    (self.path, self.file) = (path, file)
    if file.field != nil, rate.ratio != CaptionRate(code: 4)?.ratio {
      throw Failure("\(path): SCC has 29.97 frames a second, but \(source) has \(rate.text)")
    }
    guard file.timeCode.base == rate.base else {
      throw Failure("\(path): time codes of \(file.timeCode.base) frames a second, but \(source) has \(rate.text)")
    }
    var shifted = 0
    if let shift {
      guard let frames = shift.frames(at: rate, file.timeCode) else {
        throw Failure("--shift: expected a time code as in \(path)")
      }
      shifted = frames
    }
    self.shift = shifted
    let frames: Int
    (places, frames) = Self.places(survey.ranks)
    let inside = -shifted..<frames - shifted
    let captioned = file.track.frames
    outsideCount = captioned.count { !inside.contains($0) }
    joinedCount =
      file.track.form == nil ? 0 : Self.joinedCount(file.track, captioned.filter(inside.contains), places, shifted)
    let hasSome = outsideCount < captioned.count
    if outsideCount > 0, !force || !hasSome { try refuse(outside: inside, source, hasSome: hasSome) }
  }

  /// The captions that are left out, and those that become others, for the user.
  var remarks: [String] {
    [
      (outsideCount, "outside of the video are left out"),
      (joinedCount, "with several messages for a picture are joined into one"),
    ].filter { $0.0 > 0 }.map { "\(path): captions of \(Text.count($0, "frame")) \($1)" }
  }

  /// How many frames have more messages than pictures.
  private static func joinedCount(_ track: CaptionTrack, _ frames: [Int], _ places: [UInt32]?, _ shift: Int) -> Int {
    let pairs = Set((places ?? []).lazy.filter { $0 & isOther != 0 }.map { Int($0 >> 2) })
    return frames.count { frame in
      let pictures = pairs.contains(frame + shift) ? 2 : 1
      return track.count(ofFrame: frame) > pictures && track.messages(ofFrame: frame).count { $0 != nil } > pictures
    }
  }

  /// - Parameter hasSome: whether captions are in these frames.
  private func refuse(outside frames: Range<Int>, _ source: String, hasSome: Bool) throws(Failure) {
    guard let first = file.track.first, let last = file.track.last,
      let wrong = first.frame < frames.lowerBound ? first : file.track.first(from: frames.upperBound)
    else { return }
    let text = String(
      decoding: file.timeCode.text(ofFrame: wrong.frame, hasSemicolon: file.timeCode.dropsFrames), as: UTF8.self)
    let isShort = last.frame - first.frame < frames.count
    let hint =
      isShort
      ? "; --shift=\(-first.frame) begins with the first captions"
      : hasSome ? "; --force leaves out captions outside of the video" : ""
    throw Failure(
      "\(path): line \(wrong.line): \(text) would be frame \(wrong.frame + shift), but \(source) has "
        + "\(Text.count(frames.count, "frame")), counted from 0\(hint)")
  }

  /// The places of pictures, and the number of frames.
  private static func places(_ ranks: PresentationRanks) -> ([UInt32]?, Int) {
    var numbering = FrameNumbering()
    var places: [UInt32] = []
    places.reserveCapacity(ranks.count)
    for number in ranks.accessUnits {
      guard let picture = ranks[number] else { continue }
      let (frame, isOther) = numbering.next(picture)
      if isOther, let last = places.indices.last { places[last] |= hasOther }
      places.append(UInt32(truncatingIfNeeded: frame) << 2 | (isOther ? self.isOther : 0))
    }
    return (numbering.count == places.count ? nil : places, numbering.count)
  }

  func message(at rank: Int) throws(Failure) -> [UInt8]? {
    let place = places.map { $0.indices.contains(rank) ? $0[rank] : 0 } ?? UInt32(truncatingIfNeeded: rank) << 2
    let frame = Int(place >> 2)
    let all: [CaptionMessage?]
    do throws(CaptionFileError) { all = try file.messages(ofFrame: frame - shift, at: rate) } catch {
      throw Failure("\(path): \(error.text)")
    }
    // The first field has the first one, and the second field all others.
    let own =
      place & Self.isOther != 0 ? all.dropFirst() : place & Self.hasOther != 0 ? all.prefix(1) : all[...]
    let messages = own.compactMap(\.self)
    let isField = place & (Self.isOther | Self.hasOther) != 0
    guard let message = CaptionMessage.joined(messages, limit: isField ? nil : rate.tripletCount) else {
      guard let line = file.track.first(from: frame - shift)?.line, !messages.isEmpty else { return nil }
      throw Failure(
        "\(path): line \(line): \(Text.count(messages.count, "message")) for one picture, with more triplets than the "
          + "\(CaptionTriplet.limit) of a message")
    }
    do throws(BitstreamError) { return try message.userData().payload } catch {
      throw Failure("\(path): frame \(frame): captions that a message cannot hold: \(error)")
    }
  }
}

/// The properties of a stream on which insertion of captions depends: the order of its pictures, and their rate.
struct CaptionSurvey: PresentedPart {
  /// The name of the file, for messages.
  let source: String
  /// The frame rate that the headers get; `nil` if they keep theirs.
  private let frameRate: Ratio?
  private(set) var ranks = PresentationRanks()
  private var (clock, numbering) = (CaptionClock(), FrameNumbering())
  /// Pictures with captions.
  private(set) var captionedCount = 0

  init(source: String, frameRate: Ratio?) { (self.source, self.frameRate) = (source, frameRate) }

  mutating func insert<Codec: StreamEditing>(_ nalUnits: [[UInt8]], _ codec: Codec.Type) {
    clock.insert(nalUnits, codec)
  }

  mutating func read<Codec: StreamEditing>(
    _ accessUnit: Span<UInt8>, _ packaging: NALPackaging, _: AccessUnitPlace, after _: inout Void?, _ codec: Codec.Type
  ) {
    clock.read(accessUnit, packaging, codec)
    if !Codec.metadata([.captions], in: accessUnit, packaging).isEmpty { captionedCount += 1 }
  }

  mutating func take(_: Void, of picture: PresentedPicture) throws(Failure) {
    try ranks.add(picture)
    if !numbering.next(picture.picture).isOther { clock.add(picture.place.time) }
  }

  mutating func takeStray(_: Void, of accessUnit: AccessUnitPlace) { ranks.reserve(accessUnit.number) }

  /// The constant rate of the frames.
  ///
  /// - Throws: a `Failure` if it is not constant, or if captions have no such rate.
  var rate: CaptionRate { get throws(Failure) { try clock.rate(source, edited: frameRate) } }
}
