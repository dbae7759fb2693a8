// SPDX-License-Identifier: MPL-2.0
package import H26x
package import VideoDecoding

/// The pictures that the VA-API driver of the tests looks up (Tests/VADriver): what software decodes of a stream.
package struct PictureTable {
  private struct Entry {
    var key: UInt64
    var epoch: UInt32
    var order: (top: Int32, bottom: Int32)
    /// The picture whose samples these are; nil until it has come out.
    var picture: Int?
  }

  private struct Samples {
    let width: Int, height: Int
    let bytesPerSample: Int
    let bytes: [UInt8]
  }

  private var entries: [Entry] = []
  private var pictures: [Samples] = []
  private var epoch: UInt32 = 0

  package init() {}

  /// Access units with a picture so far.
  package var entryCount: Int { entries.count }

  /// Adds all pictures of a byte stream's access units, as software decodes them.
  package mutating func add(_ units: [[UInt8]], _ format: FormatDescription) throws(DecodeError) {
    var keys = PictureKeys(format)
    let first = entries.count
    var entryOfUnit: [Int?] = []
    for unit in units {
      guard let key = keys.next(unit) else {
        entryOfUnit.append(nil)
        continue
      }
      if key.resetsOrder { epoch += 1 }
      entryOfUnit.append(entries.count)
      entries.append(Entry(key: key.key, epoch: epoch, order: key.order))
    }
    var configuration = SessionConfiguration()
    configuration.threadCount = 1
    // As the table has them.
    configuration.outputLayout = .semiPlanar
    let session = try DecompressionSession(format: format, configuration: configuration)
    for (index, unit) in units.enumerated() {
      try session.decode(unit.span, tag: UInt64(index))
      takeResults(of: session, entryOfUnit)
    }
    session.drain()
    takeResults(of: session, entryOfUnit)
    // A second field leads to the picture of the first.
    for index in entries.indices.dropFirst(first + 1) where entries[index].picture == nil {
      entries[index].picture = entries[index - 1].picture
    }
  }

  private mutating func takeResults(of session: DecompressionSession, _ entryOfUnit: [Int?]) {
    while let result = session.nextResult() {
      guard case .frame(let picture) = result, let entry = entryOfUnit[Int(picture.tag)] else {
        continue
      }
      // A device decodes no other: these do not come to it.
      guard picture.pixelFormat.isSemiPlanar else { continue }
      entries[entry].picture = pictures.count
      pictures.append(
        Samples(
          width: picture.codedWidth, height: picture.codedHeight,
          bytesPerSample: picture.pixelFormat.bytesPerSample,
          bytes: Self.samples(of: picture)))
    }
  }

  /// The file, as `struct TableHeader` and `struct Entry` of the driver describe it.
  func bytes() -> [UInt8] {
    var (head, samples): ([UInt8], [UInt8]) = (Array("VATABLE2".utf8), [])
    let written = entries.filter { $0.picture != nil }
    append(UInt32(written.count), to: &head)
    append(UInt32(0), to: &head)
    let start = 16 + 48 * written.count
    var offsets: [Int: Int] = [:]
    for entry in written {
      guard let number = entry.picture else { continue }
      let picture = pictures[number]
      let offset = offsets[number] ?? samples.count
      if offsets[number] == nil {
        offsets[number] = offset
        samples += picture.bytes
      }
      append(entry.key, to: &head)
      append(UInt32(picture.width), to: &head)
      append(UInt32(picture.height), to: &head)
      append(UInt32(picture.bytesPerSample), to: &head)
      append(entry.epoch, to: &head)
      append(UInt32(bitPattern: entry.order.top), to: &head)
      append(UInt32(bitPattern: entry.order.bottom), to: &head)
      append(UInt64(start + offset), to: &head)
      append(UInt64(0), to: &head)
    }
    return head + samples
  }

  private func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
    unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  /// The coded picture, because that is what picture hashes are of.
  private static func samples(of picture: DecodedPicture) -> [UInt8] {
    let format = picture.pixelFormat
    var samples: [UInt8] = []
    for plane in 0..<format.planeCount {
      unsafe picture.withUnsafeCodedPlane(plane) { start, stride in
        for row in 0..<format.rowCount(plane: plane, height: picture.codedHeight) {
          unsafe samples.append(
            contentsOf: UnsafeBufferPointer(
              start: start + row * stride, count: format.rowByteCount(plane: plane, width: picture.codedWidth)))
        }
      }
    }
    return samples
  }
}

/// The keys of a stream's pictures, in decoding order: a hash of a picture's slices and of its picture order count.
private struct PictureKeys {
  struct Key {
    let key: UInt64
    let order: (top: Int32, bottom: Int32)
    let resetsOrder: Bool
  }

  private let codec: FormatDescription.Codec
  private var h264 = (sets: H264.ParameterSets(), counter: H264.PictureOrderCounter())
  private var h265 = (sets: H265.ParameterSets(), counter: H265.PictureOrderCounter())

  init(_ format: FormatDescription) {
    codec = format.codec
    for nalUnit in format.parameterSets.video + format.parameterSets.sequence
      + format.parameterSets.picture
    {
      insert(nalUnit.span)
    }
  }

  private mutating func insert(_ nalUnit: Span<UInt8>) {
    switch codec {
    case .h264: _ = try? h264.sets.insert(nalUnit)
    case .h265: _ = try? h265.sets.insert(nalUnit)
    }
  }

  /// The key of the next access unit's picture; nil without one.
  mutating func next(_ unit: [UInt8]) -> Key? {
    var hash: UInt64 = 14_695_981_039_346_656_037
    func take(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211 }
    var found: (top: Int32, bottom: Int32, resetsOrder: Bool)?
    var nalUnits = AnnexB.NALUnits(unit.span)
    while let nalUnit = nalUnits.next() {
      let bytes = unit.span.extracting(nalUnit.range)
      insert(bytes)
      guard isSlice(bytes) else { continue }
      for index in bytes.indices { take(bytes[index]) }
      if found == nil { found = order(bytes) }
    }
    guard let found else { return nil }
    // This does not depend on the place where decoding began: MaxPicOrderCntLsb is at least 16.
    take(UInt8(truncatingIfNeeded: found.top) & 15)
    return Key(key: hash, order: (found.top, found.bottom), resetsOrder: found.resetsOrder)
  }

  private func isSlice(_ nalUnit: Span<UInt8>) -> Bool {
    guard nalUnit.count > 2 else { return false }
    return switch codec {
    case .h264: [1, 5].contains(nalUnit[0] & 31)
    case .h265: nalUnit[0] >> 1 & 63 < 32 && nalUnit[0] & 1 == 0 && nalUnit[1] >> 3 == 0
    }
  }

  private mutating func order(
    _ nalUnit: Span<UInt8>
  ) -> (top: Int32, bottom: Int32, resetsOrder: Bool)? {
    switch codec {
    case .h264:
      guard
        let slice = try? H264.SliceHeader(
          nalUnit: nalUnit, parameterSets: h264.sets, depth: .referenceMarking),
        let sps = h264.sets.sequenceParameterSet(slice.sequenceParameterSetID)
      else { return nil }
      let order = h264.counter.next(slice, sps: sps)
      let (top, bottom) = (order.top ?? order.picture, order.bottom ?? order.picture)
      return (top, bottom, slice.isIDR)
    case .h265:
      guard let slice = try? H265.SliceSegmentHeader(nalUnit: nalUnit, parameterSets: h265.sets),
        let sps = h265.sets.sequenceParameterSet(slice.sequenceParameterSetID)
      else { return nil }
      let order = h265.counter.next(slice, sps: sps)
      return (order.picture, order.picture, order.resetsPOC)
    }
  }
}
