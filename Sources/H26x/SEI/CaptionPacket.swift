// SPDX-License-Identifier: MPL-2.0

/// A caption channel packet of DTVCC (CTA-708, 5).
public struct CaptionPacket: Sendable, Hashable {
  /// A service block (CTA-708, 6).
  public struct ServiceBlock: Sendable, Hashable {
    /// `service_number`, or `extended_service_number`: 0 to 63.
    public var number: UInt8
    /// The two bits in front of `extended_service_number`, which are 0; nil without an extended header.
    public var nullFill: UInt8?
    /// `block_data`, 31 bytes at most.
    public var data: [UInt8]

    /// Creates a block.
    public init(number: UInt8, data: [UInt8]) {
      self.number = number & 0x3F
      nullFill = number >= 7 ? 0 : nil
      self.data = data
    }

    init(number: UInt8, nullFill: UInt8?, data: [UInt8]) {
      (self.number, self.nullFill, self.data) = (number, nullFill, data)
    }
  }

  /// `sequence_number`, 0 to 3.
  public var sequenceNumber: UInt8
  /// The blocks, up to the first one that cannot be read.
  public var serviceBlocks: [ServiceBlock]
  /// The bytes behind the blocks: a null block and padding.
  public var trailingBytes: [UInt8]

  /// Creates a packet; its data are padded to a size that the header can express.
  public init(sequenceNumber: UInt8, serviceBlocks: [ServiceBlock]) {
    self.sequenceNumber = sequenceNumber & 3
    self.serviceBlocks = serviceBlocks
    // With the header, the size is even.
    let count = serviceBlocks.reduce(1) { $0 + $1.data.count + ($1.nullFill == nil ? 1 : 2) }
    trailingBytes = count & 1 == 0 ? [] : [0]
  }

  /// The size of a packet with its header, by `packet_size_code`.
  package static func size(header: UInt8) -> Int {
    let code = Int(header & 0x3F)
    return code == 0 ? 128 : 2 * code
  }

  /// Reads a whole packet.
  ///
  /// - Parameters:
  ///   - bytes: the packet, header included; bytes behind its size are ignored.
  ///   - trace: records the syntax elements; nil for no record.
  /// - Throws: `.truncated`.
  public init(_ bytes: Span<UInt8>, trace: SyntaxTrace? = nil) throws(BitstreamError) {
    let size = bytes.count > 0 ? Self.size(header: bytes[0]) : 1
    guard bytes.count >= size else { throw BitstreamError(.truncated, "packet_size_code", bitOffset: 0) }
    var reader = BitReader(bytes.extracting(0..<size), removesEmulationPrevention: false, trace: trace)
    sequenceNumber = try reader.u8(2, "sequence_number")
    _ = try reader.u(6, "packet_size_code")
    serviceBlocks = []
    while reader.remainingBits > 0 {
      let start = reader
      do throws(BitstreamError) {
        guard let block = try Self.block(&reader) else {
          reader = start
          break
        }
        serviceBlocks.append(block)
      } catch {
        reader = start
        break
      }
    }
    trailingBytes = try reader.bytes(reader.remainingBits / 8, "packet_data")
  }

  /// The next block; nil for a null block, which ends the packet.
  private static func block(_ reader: inout BitReader) throws(BitstreamError) -> ServiceBlock? {
    var number = try reader.u8(3, "service_number")
    let size = Int(try reader.u(5, "block_size"))
    guard number > 0 else { return nil }
    var nullFill: UInt8?
    if number == 7, size > 0 {
      nullFill = try reader.u8(2, "null_fill")
      number = try reader.u8(6, "extended_service_number")
    }
    return ServiceBlock(number: number, nullFill: nullFill, data: try reader.bytes(size, "block_data"))
  }

  /// The packet with its header.
  ///
  /// - Throws: `.valueOutOfRange` if the data are not 1 to 127 bytes and odd in number, or a block is too long.
  public func bytes() throws(BitstreamError) -> [UInt8] {
    var writer = BitWriter(addsEmulationPrevention: false)
    let count = serviceBlocks.reduce(trailingBytes.count) { $0 + $1.data.count + ($1.nullFill == nil ? 1 : 2) }
    guard 1...127 ~= count, count & 1 == 1 else {
      throw BitstreamError(.valueOutOfRange, "packet_size_code", bitOffset: 2)
    }
    writer.u(2, UInt32(sequenceNumber))
    writer.u(6, UInt32(count == 127 ? 0 : (count + 1) / 2))
    for block in serviceBlocks {
      guard block.data.count <= 31 else {
        throw BitstreamError(.valueOutOfRange, "block_size", bitOffset: writer.bitCount + 3)
      }
      writer.u(3, UInt32(block.nullFill == nil ? block.number : 7))
      writer.u(5, UInt32(block.data.count))
      if let nullFill = block.nullFill {
        writer.u(2, UInt32(nullFill))
        writer.u(6, UInt32(block.number))
      }
      writer.append(block.data)
    }
    writer.append(trailingBytes)
    return writer.bytes
  }
}

/// Assembles the caption channel packets of DTVCC from triplets in presentation order.
public struct CaptionPacketAssembler: Sendable, Hashable {
  /// The bytes of the packet so far, 128 at most; empty between packets.
  private var bytes: [UInt8] = []

  /// Creates an assembler between packets.
  public init() {}

  /// Adds a triplet.
  ///
  /// - Returns: the packet that it completes. A packet that is cut short by the next one is dropped.
  public mutating func add(_ triplet: CaptionTriplet) -> CaptionPacket? {
    switch triplet.kind {
    case .field1, .field2: return nil
    case .packetStart: bytes = []
    case .packetData: guard !bytes.isEmpty else { return nil }
    }
    guard triplet.isValid else {
      // Padding ends a packet (CTA-708, 4.4.1).
      bytes = []
      return nil
    }
    bytes += [triplet.first, triplet.second]
    guard let header = bytes.first, bytes.count >= CaptionPacket.size(header: header) else { return nil }
    defer { bytes = [] }
    do throws(BitstreamError) {
      return try CaptionPacket(bytes.span)
    } catch {
      return nil
    }
  }
}
