// SPDX-License-Identifier: MPL-2.0
import H26x

/// The analysis of one codec or the other. Two optionals, not an enum, whose payload would be copied at every change.
struct EitherAnalysis {
  private var h264: StreamAnalysis<H264>?
  private var h265: StreamAnalysis<H265>?

  init(_ codec: FormatDescription.Codec, options: ReportOptions) {
    switch codec {
    case .h264: h264 = StreamAnalysis(options: options)
    case .h265: h265 = StreamAnalysis(options: options)
    }
  }

  mutating func next() -> ReportItem? {
    if h264 != nil { return h264?.next() }
    return h265?.next()
  }

  mutating func begin(_ stream: StreamRecord) {
    h264?.begin(stream)
    h265?.begin(stream)
  }

  mutating func configure(_ description: MP4.VisualSampleDescription, timescale: UInt32) -> NALLengthSize? {
    if h264 != nil { return h264?.configure(description, timescale: timescale) }
    return h265?.configure(description, timescale: timescale)
  }

  mutating func take(_ stated: ContainerMetadata) {
    h264?.take(stated)
    h265?.take(stated)
  }

  mutating func garbage(_ count: UInt64, at offset: UInt64) {
    h264?.garbage(count, at: offset)
    h265?.garbage(count, at: offset)
  }

  mutating func damaged(_ error: MP4.ReadError) {
    h264?.damaged(error)
    h265?.damaged(error)
  }

  mutating func check(editRate: UInt32) {
    h264?.check(editRate: editRate)
    h265?.check(editRate: editRate)
  }

  mutating func addPacket(_ sample: AccessUnitRecord.Sample?, timescale: UInt32, at offset: UInt64) {
    h264?.addPacket(sample, timescale: timescale, at: offset)
    h265?.addPacket(sample, timescale: timescale, at: offset)
  }

  mutating func feed(_ nalUnit: Span<UInt8>, at offset: UInt64, prefix: Int) {
    h264?.feed(nalUnit, at: offset, prefix: prefix)
    h265?.feed(nalUnit, at: offset, prefix: prefix)
  }

  mutating func feed(
    sample bytes: Span<UInt8>, _ sample: AccessUnitRecord.Sample?, at offset: UInt64, size: UInt64,
    lengthSize: NALLengthSize
  ) {
    h264?.feed(sample: bytes, sample, at: offset, size: size, lengthSize: lengthSize)
    h265?.feed(sample: bytes, sample, at: offset, size: size, lengthSize: lengthSize)
  }

  mutating func feed(
    byteStream bytes: Span<UInt8>, _ sample: AccessUnitRecord.Sample?, at offset: UInt64, size: UInt64
  ) {
    h264?.feed(byteStream: bytes, sample, at: offset, size: size)
    h265?.feed(byteStream: bytes, sample, at: offset, size: size)
  }

  mutating func beginSample(_ sample: AccessUnitRecord.Sample?, at offset: UInt64, size: UInt64, available: UInt64) {
    h264?.beginSample(sample, at: offset, size: size, available: available)
    h265?.beginSample(sample, at: offset, size: size, available: available)
  }

  /// See ``StreamAnalysis/headLength``.
  var headLength: Int { h264?.headLength ?? h265?.headLength ?? 0 }

  /// See ``StreamAnalysis/needsWhole(_:)``.
  func needsWhole(_ start: Span<UInt8>) -> Bool { h264?.needsWhole(start) ?? h265?.needsWhole(start) ?? true }

  mutating func feed(inSample nalUnit: borrowing NALUnitBytes, at offset: UInt64, prefix: Int) {
    h264?.feed(inSample: nalUnit, at: offset, prefix: prefix)
    h265?.feed(inSample: nalUnit, at: offset, prefix: prefix)
  }

  mutating func feedEmpty(inSampleAt offset: UInt64) {
    h264?.feedEmpty(inSampleAt: offset)
    h265?.feedEmpty(inSampleAt: offset)
  }

  mutating func endSample(at end: UInt64, _ failure: BitstreamError?) {
    h264?.endSample(at: end, failure)
    h265?.endSample(at: end, failure)
  }

  mutating func finish(at offset: UInt64, isCutOff: Bool = false) {
    h264?.finish(at: offset, isCutOff: isCutOff)
    h265?.finish(at: offset, isCutOff: isCutOff)
  }
}
