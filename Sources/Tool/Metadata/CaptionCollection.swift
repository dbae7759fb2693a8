// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x

/// Collects the captions of a stream in the order of presentation.
struct CaptionCollection: PresentedPart {
  /// The name of the file, for messages.
  let source: String
  /// Whether messages that cannot be read are left out.
  let skipsDamaged: Bool

  /// The captions by frame; `nil` before the first.
  private(set) var track: CaptionTrack?
  /// The services with captions.
  private(set) var services = CaptionServices()
  /// The rate of the frames.
  private(set) var clock = CaptionClock()
  /// Messages, and those whose form is not that of the first one.
  private(set) var count = (all: 0, otherForms: 0)
  /// Messages that cannot be read.
  private(set) var damagedCount = 0
  /// Messages of access units without a picture.
  private(set) var strayCount = 0

  private var numbering = FrameNumbering()
  /// Whether the frame so far has a message.
  private var hasMessage = false

  init(source: String, skipsDamaged: Bool) { (self.source, self.skipsDamaged) = (source, skipsDamaged) }

  /// Frames so far.
  var frameCount: Int { numbering.count }

  mutating func read<Codec: StreamEditing>(
    _ accessUnit: Span<UInt8>, _ packaging: NALPackaging, _ place: AccessUnitPlace, after previous: inout [[UInt8]]?,
    _ codec: Codec.Type
  ) throws(Failure) -> [[UInt8]] {
    clock.read(accessUnit, packaging, codec)
    return Codec.metadata([.captions], in: accessUnit, packaging).map { $0.bytes }
  }

  mutating func take(_ part: [[UInt8]], of picture: PresentedPicture) throws(Failure) {
    let (frame, isOther) = numbering.next(picture.picture)
    if !isOther {
      clock.add(picture.place.time)
      hasMessage = false
    }
    for payload in part {
      guard let message = try message(payload, frame) else { continue }
      // The place of the field without a message.
      if isOther, !hasMessage { track?.append(nil, ofFrame: frame) }
      if track == nil {
        track = CaptionTrack(form: message.form)
        if isOther { track?.append(nil, ofFrame: frame) }
      }
      track?.append(message, ofFrame: frame)
      hasMessage = true
      services.add(message)
      count.all += 1
      if message.form != track?.form { count.otherForms += 1 }
    }
  }

  /// Reads a message.
  ///
  /// - Throws: a `Failure` for one that cannot be read, unless these are left out.
  private mutating func message(_ payload: [UInt8], _ frame: Int) throws(Failure) -> CaptionMessage? {
    do throws(BitstreamError) {
      let userData = RegisteredUserData(countryCode: payload.first ?? 0, data: Array(payload.dropFirst()))
      return try CaptionMessage(userData)
    } catch {
      guard skipsDamaged else {
        throw Failure("\(source): frame \(frame): captions that cannot be read: \(error); --force leaves them out")
      }
      damagedCount += 1
      return nil
    }
  }

  mutating func takeStray(_ part: [[UInt8]], of accessUnit: AccessUnitPlace) { strayCount += part.count }

  func finish() {}
}
