// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// `decoded_picture_hash()` (D.2.19): hashes of the decoded picture's planes, not cropped.
  public enum DecodedPictureHash: Sendable, Hashable {
    /// `picture_md5`: 16 bytes for each plane.
    case md5([[UInt8]])
    /// `picture_crc`, one for each plane.
    case crc([UInt16])
    /// `picture_checksum`, one for each plane.
    case checksum([UInt32])

    /// Number of planes: 1 for monochrome, else 3.
    public var planeCount: Int {
      switch self {
      case .md5(let planes): planes.count
      case .crc(let planes): planes.count
      case .checksum(let planes): planes.count
      }
    }

    /// Reads a message of type ``SEIPayloadType/decodedPictureHash``. The number of planes follows from its size.
    ///
    /// - Throws: `.truncated`, `.unsupported` for another kind of hash.
    public init(_ message: borrowing SEIMessages.Message) throws(BitstreamError) {
      var reader = message.reader
      let start = reader.bitOffset
      let type = try reader.byte("hash_type")
      let lengths = [16, 2, 4]
      guard Int(type) < lengths.count else { throw BitstreamError(.unsupported, "hash_type", bitOffset: start) }
      let planes = message.size - 1 >= 3 * lengths[Int(type)] ? 3 : 1
      switch type {
      case 0:
        var hashes: [[UInt8]] = []
        for _ in 0..<planes { hashes.append(try reader.bytes(16, "picture_md5")) }
        self = .md5(hashes)
      case 1:
        var hashes: [UInt16] = []
        for _ in 0..<planes { hashes.append(UInt16(truncatingIfNeeded: try reader.u(16, "picture_crc"))) }
        self = .crc(hashes)
      default:
        var hashes: [UInt32] = []
        for _ in 0..<planes { hashes.append(try reader.u(32, "picture_checksum")) }
        self = .checksum(hashes)
      }
    }

    /// The payload: the inverse of ``init(_:)``.
    public func payload() -> [UInt8] {
      var writer = BitWriter(addsEmulationPrevention: false)
      switch self {
      case .md5(let planes):
        writer.u(8, 0)
        for plane in planes { writer.append(plane) }
      case .crc(let planes):
        writer.u(8, 1)
        for plane in planes { writer.u(16, UInt32(plane)) }
      case .checksum(let planes):
        writer.u(8, 2)
        for plane in planes { writer.u(32, plane) }
      }
      return writer.bytes
    }

    /// One plane of a decoded picture, samples of one or two bytes (little-endian), row by row.
    public struct Plane: ~Escapable {
      let bytes: Span<UInt8>
      let width: Int
      let height: Int
      let stride: Int
      let bytesPerSample: Int

      /// Creates a plane; nil if `bytes` are not enough.
      ///
      /// - Parameters:
      ///   - bytes: beginning with the first sample of the uncropped plane.
      ///   - width: samples in a row.
      ///   - height: number of rows.
      ///   - stride: bytes from one row to the next.
      ///   - bitDepth: bits of a sample; samples of more than 8 take two bytes.
      @_lifetime(copy bytes)
      public init?(_ bytes: Span<UInt8>, width: Int, height: Int, stride: Int, bitDepth: Int) {
        let bytesPerSample = bitDepth > 8 ? 2 : 1
        guard width > 0, height > 0, width <= 1 << 20, height <= 1 << 20, stride >= width * bytesPerSample,
          stride <= 1 << 24, bytes.count >= (height - 1) * stride + width * bytesPerSample
        else { return nil }
        self.bytes = bytes
        self.width = width
        self.height = height
        self.stride = stride
        self.bytesPerSample = bytesPerSample
      }
    }

    /// Whether a decoded plane has its hash (D.3.19); false when there is no hash for it.
    ///
    /// - Parameters:
    ///   - plane: the decoded plane.
    ///   - index: 0 for luma, 1 and 2 for chroma.
    public func matches(_ plane: borrowing Plane, index: Int) -> Bool {
      guard index >= 0, index < planeCount else { return false }
      switch self {
      case .md5(let planes): return plane.md5 == planes[index]
      case .crc(let planes): return plane.crc == planes[index]
      case .checksum(let planes): return plane.checksum == planes[index]
      }
    }
  }
}

extension H265.DecodedPictureHash.Plane {
  /// `pictureMD5`.
  var md5: [UInt8] {
    var digest = MD5()
    for row in 0..<height {
      let start = row * stride
      digest.append(bytes.extracting(start..<start + width * bytesPerSample))
    }
    return digest.finish()
  }

  /// `pictureCrc`: polynomial 0x1021 over each sample's bytes, low byte first, and then 16 zero bits.
  var crc: UInt16 {
    var crc: UInt16 = 0xFFFF
    for row in 0..<height {
      let start = row * stride
      for index in start..<start + width * bytesPerSample { crc = Self.crc(crc, bytes[index]) }
    }
    return Self.crc(Self.crc(crc, 0), 0)
  }

  private static func crc(_ crc: UInt16, _ byte: UInt8) -> UInt16 {
    var crc = crc
    for bit in 0..<8 {
      let isSet = crc & 0x8000 != 0
      crc = crc << 1 | UInt16(byte >> UInt8(7 - bit) & 1)
      if isSet { crc ^= 0x1021 }
    }
    return crc
  }

  /// `pictureChecksum`: the sum of the bytes, each XORed with its position.
  var checksum: UInt32 {
    var sum: UInt32 = 0
    for y in 0..<height {
      var index = y * stride
      for x in 0..<width {
        let mask = UInt8(truncatingIfNeeded: x ^ y ^ x >> 8 ^ y >> 8)
        for _ in 0..<bytesPerSample {
          sum &+= UInt32(bytes[index] ^ mask)
          index += 1
        }
      }
    }
    return sum
  }
}
