// SPDX-License-Identifier: MPL-2.0
import H26x

/// The NAL units of encoded pictures that the encoder does not write: SEI messages of the source that are still true,
/// messages that the SPS requires, and the metadata of Dolby Vision.
///
/// Messages about coded data are left out; see ``AccompanyingSyntax/isAboutCoding(_:)``. An encoded frame has the
/// messages of both fields. The first encoded picture also has those of earlier pictures that apply up to the end of
/// their sequence, because it begins another one.
struct AccompanyingMessages<Codec: AccompanyingSyntax> {
  private typealias Message = (type: SEIPayloadType, payload: [UInt8])

  private struct Picture {
    var messages: [Message] = []
    /// Behind the slices.
    var suffixMessages: [Message] = []
    /// Other NAL units behind the slices.
    var metadata: [[UInt8]] = []
    var display: FrameDisplay?

    /// Adds the second field.
    mutating func add(_ second: Picture) {
      for message in second.messages where Self.accepts(message, beside: messages) { messages.append(message) }
      for message in second.suffixMessages where Self.accepts(message, beside: suffixMessages) {
        suffixMessages.append(message)
      }
      if metadata.isEmpty { metadata = second.metadata }
      if let other = second.display { display = display?.joined(other) ?? other }
    }

    /// Each field may have its own captions. Other messages describe the whole frame.
    private static func accepts(_ message: Message, beside others: [Message]) -> Bool {
      let others = others.filter { $0.type == message.type }
      let isUserData = message.type == .userDataRegistered || message.type == .userDataUnregistered
      return isUserData ? !others.contains { $0.payload == message.payload } : others.isEmpty
    }
  }

  /// Of encoded pictures, by their presentation times.
  private var pictures: [Int64: Picture] = [:]
  /// The presentation time of the latest picture.
  private var latest: Int64?
  /// Messages that apply to later pictures too.
  var lasting = LastingMessages()
  /// The source's latest buffering period.
  private var bufferingPeriod: H264.BufferingPeriod?
  /// The SPS of encoded pictures: the source's while these are read.
  var sps: Codec.SequenceParameterSet?

  /// Reads the next access unit of the seam in decoding order.
  ///
  /// - Parameters:
  ///   - sets: its parameter sets.
  ///   - id: its SPS; `nil` for a picture that is not encoded.
  mutating func take(
    _ accessUnit: MediaOutput.AccessUnit, _ packaging: NALPackaging, _ sets: Codec.ParameterSets,
    _ id: SequenceParameterSetID?
  ) {
    if let id { sps = sets.sequenceParameterSet(id) }
    if accessUnit.role.start == .closed { lasting.beginSequence(at: accessUnit.decoding) }
    if !accessUnit.role.isSecondField { latest = accessUnit.presentation }
    var (fields, hasSlice) = ([Picture()], false)
    let bytes = accessUnit.bytes
    for range in packaging.nalUnits(of: bytes.span) where !range.isEmpty {
      let nalUnit = bytes.span.extracting(range)
      switch Codec.role(of: nalUnit) {
      case .slice, .slicePart: hasSlice = true
      case .sei:
        // A sample may have both fields.
        if hasSlice { fields.append(Picture()) }
        hasSlice = false
        let messages = read(nalUnit, sets, &fields[fields.count - 1].display, of: accessUnit)
        fields[fields.count - 1].messages += messages
      case .suffixSEI:
        let messages = read(nalUnit, sets, &fields[fields.count - 1].display, of: accessUnit)
        fields[fields.count - 1].suffixMessages += messages
      default:
        if Codec.isMetadata(nalUnit) { fields[fields.count - 1].metadata.append(Array(bytes[range])) }
      }
    }
    guard accessUnit.disposition == .encoded, let latest else { return }
    if accessUnit.role.isSecondField, let first = pictures[latest] { fields.insert(first, at: 0) }
    pictures[latest] = fields.dropFirst().reduce(into: fields[0]) { $0.add($1) }
  }

  /// Reads the messages of an SEI NAL unit, up to one that cannot be read.
  ///
  /// - Returns: those that are true of an encoded picture.
  private mutating func read(
    _ nalUnit: Span<UInt8>, _ sets: Codec.ParameterSets, _ display: inout FrameDisplay?,
    of accessUnit: MediaOutput.AccessUnit
  ) -> [Message] {
    var kept: [Message] = []
    do throws(BitstreamError) {
      var messages = SEIMessages(nalUnit, headerLength: Codec.nalUnitHeaderLength)
      while let message = try messages.next() {
        let type = message.type
        switch type {
        case .bufferingPeriod: bufferingPeriod = Codec.bufferingPeriod(message, sets) ?? bufferingPeriod
        case .pictureTiming: if let sps { display = Codec.display(message, sps) ?? display }
        default:
          guard !Codec.isAboutCoding(type) else { continue }
          let payload = try message.payload()
          kept.append((type, payload))
          if let isEnd = Self.isEnd(message, payload) { lasting.add(type, isEnd ? [] : payload, of: accessUnit) }
        }
      }
    } catch {
      // The messages in front of it were read.
    }
    return kept
  }

  /// Whether a message ends one of its type that applies to later pictures too; `nil` if it is of one picture.
  private static func isEnd(_ message: borrowing SEIMessages.Message, _ payload: [UInt8]) -> Bool? {
    do throws(BitstreamError) {
      switch message.type.rawValue {
      // Mastering display, light level, transfer characteristics and ambient light.
      case 137, 144, 147, 148: return false
      case 45:
        let arrangement = try FramePackingArrangement(message, codec: Codec.codec)
        return arrangement.isCancelled ? true : arrangement.repetitionPeriod > 0 ? false : nil
      case 47:
        guard let orientation = try DisplayOrientation(message, codec: Codec.codec) else { return true }
        return orientation.repetitionPeriod > 0 ? false : nil
      // Content color volume, projections, rotation and regions begin with two flags: one cancels, one lets the message
      // persist.
      case 149, 150, 151, 154, 155:
        guard let first = payload.first else { return nil }
        return first & 0x80 != 0 ? true : first & 0x40 != 0 ? false : nil
      default: return nil
      }
    } catch { return nil }
  }

  /// The NAL units of an encoded picture.
  ///
  /// - Parameters:
  ///   - slices: of the picture.
  ///   - accessUnit: the one that it replaces, or the first field.
  ///   - fullness: of the coded picture buffer, from 0 to 1, for the first picture of a seam; `nil` for others.
  ///   - delays: as `RemovalClock` counts them; `nil` if the SPS does not require them.
  ///   - isTopFieldFirst: the order of its fields; `nil` if it is not interlaced.
  func nalUnits(
    around slices: [[UInt8]], of accessUnit: MediaOutput.AccessUnit, fullness: Double?,
    _ delays: RemovalClock.Delays?, isTopFieldFirst: Bool?
  ) -> [[UInt8]] {
    let picture = pictures[accessUnit.presentation] ?? Picture()
    var messages: [Message] = []
    if let sps {
      if let fullness,
        let payload = Codec.bufferingPeriod(beginning: sps, fullness: fullness, like: bufferingPeriod)
      {
        messages.append((.bufferingPeriod, payload))
      }
      let display = picture.display?.ofFrame ?? FrameDisplay(isTopFieldFirst: isTopFieldFirst)
      if let payload = Codec.pictureTiming(display, delays, sps) { messages.append((.pictureTiming, payload)) }
    }
    messages += picture.messages
    if fullness != nil {
      for message in lasting.messages(at: accessUnit.presentation, decoding: accessUnit.decoding)
      where !messages.contains(where: { $0.type == message.type }) {
        messages.append(message)
      }
    }
    return messages.map { seiNALUnit([$0], header: Codec.prefixHeader) } + slices
      + picture.suffixMessages.map { seiNALUnit([$0], header: Codec.suffixHeader) } + picture.metadata
  }
}

/// How a frame is displayed, by its picture timing.
struct FrameDisplay {
  /// `pic_struct` of H.264, and of H.265 below 9, in which both are alike.
  private(set) var structure: UInt8
  /// Of H.264.
  private(set) var clockTimestamps: [ClockTimestamp?] = []
  /// `source_scan_type` and `duplicate_flag` of H.265.
  private(set) var (sourceScanType, isDuplicate): (UInt8, Bool) = (2, false)

  private static let (topField, bottomField, topBottom, bottomTop): (UInt8, UInt8, UInt8, UInt8) = (1, 2, 3, 4)

  init(_ timing: H264.PictureTiming.Structure, _ clockTimestamps: [ClockTimestamp?]) {
    (structure, self.clockTimestamps) = (timing.rawValue, clockTimestamps)
  }

  init(_ display: H265.PictureTiming.Display) {
    structure = display.structure.rawValue
    (sourceScanType, isDuplicate) = (display.sourceScanType, display.isDuplicate)
  }

  /// Of a frame about which the source signals nothing.
  init(isTopFieldFirst: Bool?) { structure = isTopFieldFirst.map { $0 ? Self.topBottom : Self.bottomTop } ?? 0 }

  /// The frame of two fields, of which this is the first.
  func joined(_ second: Self) -> Self {
    guard structure == Self.topField || structure == Self.bottomField else { return self }
    var frame = ofFrame
    frame.clockTimestamps = [clockTimestamps.first ?? nil, second.clockTimestamps.first ?? nil]
    return frame
  }

  /// The frame that begins with this field; a frame as it is.
  var ofFrame: Self {
    var frame = self
    switch structure {
    case Self.topField: frame.structure = Self.topBottom
    case Self.bottomField: frame.structure = Self.bottomTop
    default: break
    }
    return frame
  }
}
