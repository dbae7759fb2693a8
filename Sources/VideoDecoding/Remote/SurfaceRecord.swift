// SPDX-License-Identifier: MPL-2.0
package import AVCodec
package import CodecLink

/// A picture in a device's memory, as a codec process reports it. The descriptors come with the message.
package struct SurfaceRecord: Sendable {
  /// Its number until it is released.
  package let number: Int
  /// The slot that has its samples; `nil` if they were not required.
  package let slot: Int?
  /// The surface's location, without objects: the application measures the objects that it gets.
  package let description: SurfaceDescription

  package init(number: Int, slot: Int?, description: SurfaceDescription) {
    self.number = number
    self.slot = slot
    self.description = description
  }

  /// Reads it.
  ///
  /// - Throws: `LinkError.invalid` for values out of range; does not check whether the picture can lie there.
  package init(reading reader: inout MessageReader) throws(LinkError) {
    number = try reader.readCount(limit: CodecReply.surfaceLimit - 1)
    slot = try reader.readFlag() ? try reader.readCount(limit: CodecReply.slotLimit - 1) : nil
    guard let format = SurfaceDescription.Format(rawValue: try reader.read()) else { throw .invalid }
    let modifier = try reader.read(UInt64.self)
    guard modifier != SurfaceDescription.unknownModifier else { throw .invalid }
    description = SurfaceDescription(
      format: format, modifier: modifier, objects: [], luma: try Self.readPlane(&reader),
      chroma: try Self.readPlane(&reader))
  }

  private static func readPlane(_ reader: inout MessageReader) throws(LinkError) -> SurfaceDescription.Plane {
    SurfaceDescription.Plane(
      object: try reader.readCount(limit: SurfaceDescription.objectLimit - 1), offset: try readSize(&reader),
      stride: try readSize(&reader))
  }

  private static func readSize(_ reader: inout MessageReader) throws(LinkError) -> Int {
    guard let size = Int(exactly: try reader.read(UInt64.self)) else { throw .invalid }
    return size
  }

  /// Appends it.
  package func write(to writer: inout MessageWriter) {
    writer.append(count: number)
    writer.append(slot != nil)
    if let slot { writer.append(count: slot) }
    writer.append(description.format.rawValue)
    writer.append(description.modifier)
    for plane in [description.luma, description.chroma] {
      writer.append(count: plane.object)
      writer.append(UInt64(clamping: plane.offset))
      writer.append(UInt64(clamping: plane.stride))
    }
  }
}
