// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

@testable import VideoDecoding

/// The pictures that the VA-API driver of the tests looks up (Tests/VADriver): what software decodes of a stream.
struct PictureTable {
  private struct Entry {
    var key: UInt64
    var epoch: UInt32
    var order: (top: Int32, bottom: Int32)
    /// The picture whose samples these are; nil until it has come out.
    var picture: Int?
  }

  private var entries: [Entry] = []
  private var pictures: [DecodedPicture] = []
  private var epoch: UInt32 = 0

  /// Adds all pictures of a stream.
  mutating func add(_ stream: CodedStream) throws {
    var keys = PictureKeys(stream.format)
    let first = entries.count
    var entryOfUnit: [Int?] = []
    for unit in stream.units {
      guard let key = keys.next(unit) else {
        entryOfUnit.append(nil)
        continue
      }
      if key.resetsOrder { epoch += 1 }
      entryOfUnit.append(entries.count)
      entries.append(Entry(key: key.key, epoch: epoch, order: key.order))
    }
    let run = try stream.decode(.with { $0.threadCount = 1 })
    for frame in run.frames {
      guard let entry = entryOfUnit[Int(frame.tag)] else { continue }
      entries[entry].picture = pictures.count
      pictures.append(frame)
    }
    // A second field leads to the picture of the first.
    for index in entries.indices.dropFirst(first + 1) where entries[index].picture == nil {
      entries[index].picture = entries[index - 1].picture
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
        Self.append(picture, to: &samples)
      }
      append(entry.key, to: &head)
      append(UInt32(picture.codedWidth), to: &head)
      append(UInt32(picture.codedHeight), to: &head)
      append(UInt32(picture.pixelFormat.bytesPerSample), to: &head)
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

  /// NV12, or P010 for more than 8 bits; the coded picture, because that is what picture hashes are of.
  private static func append(_ picture: DecodedPicture, to bytes: inout [UInt8]) {
    let format = picture.pixelFormat
    let (width, height) = (picture.codedWidth, picture.codedHeight)
    let planes = unsafe picture.memory.planes
    for row in 0..<height {
      let line = unsafe planes[0].start + row * planes[0].stride
      unsafe append(UnsafeBufferPointer(start: line, count: width * format.bytesPerSample), format, to: &bytes)
    }
    var pairs = [UInt8](repeating: 0, count: (width + 1) / 2 * 2 * format.bytesPerSample)
    for row in 0..<(height + 1) / 2 {
      for index in 1...2 {
        let line = unsafe planes[index].start + row * planes[index].stride
        for place in 0..<pairs.count / 2 {
          let (column, byte) = (place / format.bytesPerSample, place % format.bytesPerSample)
          pairs[(2 * column + index - 1) * format.bytesPerSample + byte] = unsafe line[place]
        }
      }
      unsafe pairs.withUnsafeBufferPointer { unsafe append($0, format, to: &bytes) }
    }
  }

  /// Appends samples; those of more than 8 bits in the upper ones of two bytes.
  private static func append(_ samples: UnsafeBufferPointer<UInt8>, _ format: PixelFormat, to bytes: inout [UInt8]) {
    guard format.bytesPerSample == 2 else { return unsafe bytes.append(contentsOf: samples) }
    for place in stride(from: 0, to: samples.count, by: 2) {
      let sample = unsafe (UInt16(samples[place]) | UInt16(samples[place + 1]) << 8) << UInt16(16 - format.bitDepth)
      bytes.append(UInt8(truncatingIfNeeded: sample))
      bytes.append(UInt8(truncatingIfNeeded: sample >> 8))
    }
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
    for nalUnit in format.parameterSets.video + format.parameterSets.sequence + format.parameterSets.picture {
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
    var found: (top: Int32, bottom: Int32, resetsOrder: Bool, counted: Int32)?
    var nalUnits = AnnexB.NALUnits(unit.span)
    while let nalUnit = nalUnits.next() {
      let bytes = unit.span.extracting(nalUnit.range)
      insert(bytes)
      guard isSlice(bytes) else { continue }
      for index in bytes.indices { take(bytes[index]) }
      if found == nil { found = order(bytes) }
    }
    guard let found else { return nil }
    for shift: UInt32 in [0, 8, 16, 24] {
      take(UInt8(truncatingIfNeeded: UInt32(bitPattern: found.counted) >> shift))
    }
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
  ) -> (top: Int32, bottom: Int32, resetsOrder: Bool, counted: Int32)? {
    switch codec {
    case .h264:
      guard
        let slice = try? H264.SliceHeader(nalUnit: nalUnit, parameterSets: h264.sets, depth: .referenceMarking),
        let sps = h264.sets.sequenceParameterSet(slice.sequenceParameterSetID)
      else { return nil }
      let order = h264.counter.next(slice, sps: sps)
      let (top, bottom) = (order.top ?? order.picture, order.bottom ?? order.picture)
      // libavcodec counts pictures with pic_order_cnt_type 0 from 65536.
      let base: Int32 = if case .leastSignificantBits = sps.pictureOrderCountType { 1 << 16 } else { 0 }
      return (top, bottom, slice.isIDR, (order.top ?? order.picture) &+ base)
    case .h265:
      guard let slice = try? H265.SliceSegmentHeader(nalUnit: nalUnit, parameterSets: h265.sets),
        let sps = h265.sets.sequenceParameterSet(slice.sequenceParameterSetID)
      else { return nil }
      let order = h265.counter.next(slice, sps: sps)
      return (order.picture, order.picture, order.resetsPOC, order.picture)
    }
  }
}
