// SPDX-License-Identifier: MPL-2.0
package import AVCodec
package import CodecLink

/// A record in a codec process's report. A message holds one or more.
package enum CodecReply {
  /// The decoder has started a picture for this access unit.
  case begun(index: UInt64)
  /// Decoding of an access unit has ended: see `CodecEvent.decoded`.
  case decoded(index: UInt64, AVError?, FrameErrors)
  /// An error that has ended no decoding.
  case failed(index: UInt64, AVError)
  /// The picture of an access unit is decoded, and the application had no memory for it: it does not come out.
  case unplaced(index: UInt64)
  /// A picture comes out, in this slot.
  case picture(PictureDescription, slot: Int, FrameErrors, isDraining: Bool, CodecStatus)
  /// A picture comes out that stays in the device's memory until this number is released. Its samples are in a slot,
  /// too, if they were required. Alone in its message, with a descriptor for each object.
  indirect case surface(PictureDescription, SurfaceRecord, FrameErrors, isDraining: Bool, CodecStatus)
  /// Nothing in the process needs this slot any more.
  case released(slot: Int)
  /// The command has ended; of the slots granted in the session's life so many were taken or given back.
  case finished(AVError?, CodecStatus, consumedSlotCount: UInt32)
  /// Slots are needed for pictures like this one. Alone in its message, and sent at any time.
  case slotRequest(SlotRequest)

  private enum Kind: UInt8 {
    case begun = 1
    case decoded, failed, picture, released, finished, slotRequest, surface, unplaced
  }

  /// Slots of a session, at most.
  package static let slotLimit = SlotGrant.sessionLimit
  /// Surfaces that the application holds, at most.
  package static let surfaceLimit = 256

  /// Reads the next record.
  ///
  /// - Throws: `LinkError.invalid`.
  package init(reading reader: inout MessageReader) throws(LinkError) {
    guard let kind = Kind(rawValue: try reader.read()) else { throw .invalid }
    switch kind {
    case .begun: self = .begun(index: try reader.read())
    case .decoded: self = .decoded(index: try reader.read(), try reader.readError(), try reader.readFrameErrors())
    case .failed:
      let index = try reader.read(UInt64.self)
      guard let error = try reader.readError() else { throw .invalid }
      self = .failed(index: index, error)
    case .unplaced: self = .unplaced(index: try reader.read())
    case .picture:
      self = .picture(
        try reader.readPictureDescription(), slot: try reader.readCount(limit: Self.slotLimit - 1),
        try reader.readFrameErrors(), isDraining: try reader.readFlag(), try reader.readStatus())
    case .surface:
      self = .surface(
        try reader.readPictureDescription(), try SurfaceRecord(reading: &reader), try reader.readFrameErrors(),
        isDraining: try reader.readFlag(), try reader.readStatus())
    case .released: self = .released(slot: try reader.readCount(limit: Self.slotLimit - 1))
    case .finished:
      self = .finished(
        try reader.readError(), try reader.readStatus(), consumedSlotCount: try reader.read())
    case .slotRequest: self = .slotRequest(try SlotRequest(reading: &reader))
    }
  }

  /// Appends the record to a message.
  package func write(to writer: inout MessageWriter) {
    switch self {
    case .begun(let index):
      writer.append(Kind.begun.rawValue)
      writer.append(index)
    case .decoded(let index, let error, let errors):
      writer.append(Kind.decoded.rawValue)
      writer.append(index)
      writer.append(error)
      writer.append(errors.rawValue)
    case .failed(let index, let error):
      writer.append(Kind.failed.rawValue)
      writer.append(index)
      writer.append(error)
    case .unplaced(let index):
      writer.append(Kind.unplaced.rawValue)
      writer.append(index)
    case .picture(let description, let slot, let errors, let isDraining, let status):
      writer.append(Kind.picture.rawValue)
      writer.append(description)
      writer.append(count: slot)
      writer.append(errors.rawValue)
      writer.append(isDraining)
      writer.append(status)
    case .surface(let description, let surface, let errors, let isDraining, let status):
      writer.append(Kind.surface.rawValue)
      writer.append(description)
      surface.write(to: &writer)
      writer.append(errors.rawValue)
      writer.append(isDraining)
      writer.append(status)
    case .released(let slot):
      writer.append(Kind.released.rawValue)
      writer.append(count: slot)
    case .finished(let error, let status, let consumedSlotCount):
      writer.append(Kind.finished.rawValue)
      writer.append(error)
      writer.append(status)
      writer.append(consumedSlotCount)
    case .slotRequest(let request):
      writer.append(Kind.slotRequest.rawValue)
      request.write(to: &writer)
    }
  }
}
