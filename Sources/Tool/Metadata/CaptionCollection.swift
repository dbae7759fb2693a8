// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x

/// Collects the captions of a stream in the order of presentation.
struct CaptionCollection: Sendable {
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
  /// Pictures with several messages, which are joined.
  private(set) var joinedCount = 0
  /// Messages of access units without a picture.
  var strayCount = 0

  private var numbering = FrameNumbering()
  /// Whether the frame so far has a message.
  private var hasMessage = false

  init(source: String, skipsDamaged: Bool) { (self.source, self.skipsDamaged) = (source, skipsDamaged) }

  /// Takes the NAL units of a configuration record.
  mutating func insert<Codec: StreamEditing>(_ nalUnits: [[UInt8]], _ codec: Codec.Type) {
    clock.insert(nalUnits, codec)
  }

  /// Reads the headers of an access unit.
  mutating func read<Codec: StreamEditing>(
    _ accessUnit: Span<UInt8>, _ packaging: NALPackaging, _ codec: Codec.Type
  ) {
    clock.read(accessUnit, packaging, codec)
  }

  /// Takes the next picture in the order of presentation.
  ///
  /// - Parameter found: its captions.
  mutating func take(_ found: [FoundMetadata], of picture: PresentedPicture) throws(Failure) {
    let (frame, isOther) = numbering.next(picture.picture)
    if !isOther {
      clock.add(picture.place.time)
      hasMessage = false
    }
    // A sample of a container may have both fields, each with a message.
    let parts = picture.picture.isField ? [found.filter(\.isInFront), found.filter { !$0.isInFront }] : [found]
    for part in parts {
      var messages: [CaptionMessage] = []
      for metadata in part {
        guard let message = try message(metadata, of: picture) else { continue }
        messages.append(message)
        services.add(message)
        count.all += 1
        if message.form != (track?.form ?? messages.first?.form) { count.otherForms += 1 }
      }
      if messages.count > 1, messages.allSatisfy({ $0.form == messages.first?.form }),
        let joined = CaptionMessage.joined(messages)
      {
        messages = [joined]
        joinedCount += 1
      }
      append(messages, ofFrame: frame, isOther: isOther)
    }
  }

  private mutating func append(_ messages: [CaptionMessage], ofFrame frame: Int, isOther: Bool) {
    for message in messages {
      // The place of the field without a message.
      if isOther, !hasMessage { track?.append(nil, ofFrame: frame) }
      if track == nil {
        track = CaptionTrack(form: message.form)
        if isOther { track?.append(nil, ofFrame: frame) }
      }
      track?.append(message, ofFrame: frame)
      hasMessage = true
    }
  }

  /// Reads a message.
  ///
  /// - Throws: a `Failure` for one that cannot be read, unless these are left out.
  private mutating func message(
    _ metadata: FoundMetadata, of picture: PresentedPicture
  ) throws(Failure) -> CaptionMessage? {
    do throws(BitstreamError) {
      let userData = RegisteredUserData(
        countryCode: metadata.bytes.first ?? 0, data: Array(metadata.bytes.dropFirst()))
      return try CaptionMessage(userData)
    } catch {
      guard skipsDamaged else {
        throw picture.failure(
          source, metadata, "\(error)", expected: "as many triplets as cc_count", remedy: "leaves it out")
      }
      damagedCount += 1
      return nil
    }
  }
}
