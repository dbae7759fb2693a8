// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink
import TestSupport
import VideoDecoding

/// A message of a peer, made up by decisions: well-formed records with any claims, or bytes.
enum PeerMessage {
  /// Records of one message.
  case replies([CodecReply])
  /// A message of any bytes.
  case bytes([UInt8])
  /// A picture in a device's memory, with descriptors of as much shared memory.
  case surface(CodecReply, memories: [SharedMemory])
  /// No message; the peer does not answer any more.
  case silence

  /// The next message of a codec process that has got the access units up to `youngest`.
  init(_ decisions: inout ByteDecisions, youngest: UInt64) {
    switch decisions.below(16) {
    case 13:
      let index = youngest &+ 1 &- UInt64(decisions.below(3))
      let (record, memories) = Self.surface(&decisions)
      let picture = Self.description(&decisions, index)
      self = .surface(
        .surface(picture, record, [], isDraining: decisions.oneIn(4), Self.status(&decisions)), memories: memories)
    case 14: self = .bytes(Self.bytes(&decisions))
    case 15: self = .silence
    case let count: self = .replies((0...count / 4).map { _ in Self.reply(&decisions, youngest) })
    }
  }

  static func bytes(_ decisions: inout ByteDecisions) -> [UInt8] {
    (0...decisions.below(64)).map { _ in UInt8(decisions.below(256)) }
  }

  private static func reply(_ decisions: inout ByteDecisions, _ youngest: UInt64) -> CodecReply {
    // Mostly of an access unit that is known.
    let index = youngest &+ 1 &- UInt64(decisions.below(8))
    switch decisions.below(8) {
    case 0: return .begun(index: index)
    case 1: return .decoded(index: index, error(&decisions), FrameErrors(rawValue: Int32(decisions.below(256))))
    case 2: return .failed(index: index, error(&decisions) ?? .invalidData)
    case 3: return .released(slot: decisions.below(8))
    case 4:
      return .picture(
        description(&decisions, index), slot: decisions.below(8), [], isDraining: decisions.oneIn(4),
        status(&decisions))
    case 5: return .slotRequest(request(&decisions))
    default: return .finished(error(&decisions), status(&decisions), consumedSlotCount: UInt32(decisions.below(256)))
    }
  }

  private static func surface(_ decisions: inout ByteDecisions) -> (SurfaceRecord, [SharedMemory]) {
    let isTrue = decisions.oneIn(2)
    // Enough for any picture that is described, or any number.
    let sizes = (0..<(isTrue ? 1 : decisions.below(4))).map { _ in isTrue ? 1 << 16 : 1 + 256 * decisions.below(256) }
    func plane(_ index: Int) -> SurfaceDescription.Plane {
      SurfaceDescription.Plane(
        object: isTrue ? 0 : decisions.below(3), offset: isTrue ? index << 15 : 256 * decisions.below(256),
        stride: isTrue ? 160 : decisions.below(256) << decisions.below(56))
    }
    let description = SurfaceDescription(
      format: decisions.oneIn(4) ? .p010 : .nv12,
      modifier: decisions.oneIn(4) ? UInt64.max >> UInt64(decisions.below(64)) : 0, objects: [], luma: plane(0),
      chroma: plane(1))
    let memories = sizes.dropFirst(decisions.oneIn(8) ? 1 : 0).compactMap { size in
      try? SharedMemory(byteCount: decisions.oneIn(8) ? 1 : size, peerAccess: .readable)
    }
    let slot = decisions.oneIn(4) ? decisions.below(8) : nil
    return (SurfaceRecord(number: decisions.below(8), slot: slot, description: description), memories)
  }

  private static func error(_ decisions: inout ByteDecisions) -> AVError? {
    switch decisions.below(8) {
    case 5: AVError(rawValue: -Int32(decisions.below(256)))
    case 6: .invalidData
    case 7: .outOfMemory
    default: nil
    }
  }

  private static func status(_ decisions: inout ByteDecisions) -> CodecStatus {
    CodecStatus(reorderDepth: decisions.below(18), threadDelay: decisions.below(66))
  }

  private static func description(_ decisions: inout ByteDecisions, _ index: UInt64) -> PictureDescription {
    var picture = PictureDescription(
      index: decisions.oneIn(8) ? nil : index, width: decisions.below(80), height: decisions.below(80))
    if decisions.oneIn(4) {
      picture.crop = PictureCrop(
        left: decisions.below(90) - 5, right: decisions.below(90) - 5, top: decisions.below(90) - 5,
        bottom: decisions.below(90) - 5)
    }
    picture.isCorrupt = decisions.oneIn(4)
    picture.isInterlaced = decisions.oneIn(4)
    return picture
  }

  private static func request(_ decisions: inout ByteDecisions) -> SlotRequest {
    let (width, height) = (decisions.below(80), decisions.below(80))
    return SlotRequest(
      number: UInt32(decisions.below(4)),
      picture: PictureRequest(
        pixelFormat: decisions.one(of: Array(PixelFormat.allCases)), codedWidth: width, codedHeight: height,
        crop: PictureCrop(left: decisions.below(90) - 5, top: decisions.below(90) - 5),
        alignedWidth: width + decisions.below(64), alignedHeight: height + decisions.below(64),
        strideAlignment: 1 << decisions.below(13)))
  }
}
