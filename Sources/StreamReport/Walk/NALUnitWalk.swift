// SPDX-License-Identifier: MPL-2.0
import H26x

/// Reads NAL units one by one, and follows the pictures that they make. Each syntax structure in them is read once,
/// except a new parameter set. That is read for the store, as decoders do, and for the report, with all errors.
struct NALUnitWalk<Codec: ReportedCodec> {
  private let options: ReportOptions
  private(set) var sets = Codec.ParameterSets()
  private(set) var pictures = Codec.Pictures()

  init(options: ReportOptions) { self.options = options }

  mutating func beginAccessUnit() { pictures.beginAccessUnit() }

  /// Ends the access unit: marks and stores its picture. Nil without one.
  mutating func endAccessUnit() -> EndedPicture? { pictures.endAccessUnit() }

  /// Reads the header of a slice of the base layer; nil for another NAL unit.
  func slice(_ nalUnit: Span<UInt8>) -> SliceReading<Codec>? {
    guard Codec.role(of: nalUnit) == .slice else { return nil }
    return SliceReading(nalUnit, sets, trace: options.includesFields ? SyntaxTrace() : nil)
  }

  /// Reads a NAL unit.
  ///
  /// - Parameters:
  ///   - slice: the result of ``slice(_:)`` for it.
  ///   - offset: the offset of its header in the file.
  ///   - prefix: bytes of its start code or length prefix.
  ///   - startsPicture: whether it is the first slice of a picture.
  mutating func read(
    _ bytes: borrowing NALUnitBytes, _ slice: SliceReading<Codec>?, at offset: UInt64, prefix: Int,
    startsPicture: Bool
  ) -> WalkedNALUnit<Codec> {
    let nalUnit = bytes.head
    var record = NALUnitRecord()
    (record.offset, record.prefix, record.size) = (offset, prefix, bytes.size)
    let header = Codec.readHeader(nalUnit, &record, wantsFields: options.includesFields)
    let role = Codec.role(of: nalUnit)
    let isRPU = Codec.NALUnitType(rawValue: record.type) == .dolbyVisionRPU
    let isMetadata = role == .sei || role == .suffixSEI || isRPU
    let wanted = isMetadata && options.keepsMetadata ? 1 << 16 : options.byteCount
    if wanted > 0 {
      let count = min(wanted, nalUnit.count)
      record.bytes.reserveCapacity(count)
      for index in 0..<count { record.bytes.append(nalUnit[index]) }
    }
    let trace = slice.map { $0.trace } ?? (options.includesFields ? SyntaxTrace() : nil)
    let content =
      if let slice { take(slice, &record, startsPicture: startsPicture) } else { read(nalUnit, role, &record, trace) }
    if let trace { record.fields += UserDataFields.fields(trace.elements) }
    return WalkedNALUnit(
      record: record, role: role, header: header,
      forbiddenSequence: bytes.isWhole
        ? EmulationPrevention.firstViolation(nalUnit).map { ($0, nalUnit[$0 + 2]) } : nil,
      endsWithZero: bytes.last == 0, content: content)
  }

  private mutating func take(
    _ slice: SliceReading<Codec>, _ record: inout NALUnitRecord, startsPicture: Bool
  ) -> WalkedNALUnit<Codec>.Content {
    if let error = slice.error {
      record.error = error
      return .unreadableSlice(error)
    }
    guard let header = slice.header else { return .other }
    return .slice(pictures.slice(header, &record, sets: sets, startsPicture: startsPicture))
  }

  private mutating func read(
    _ nalUnit: Span<UInt8>, _ role: NALUnitRole, _ record: inout NALUnitRecord, _ trace: SyntaxTrace?
  ) -> WalkedNALUnit<Codec>.Content {
    switch role {
    case .videoParameterSet, .sequenceParameterSet, .pictureParameterSet, .sequenceParameterSetExtension:
      return read(parameterSet: nalUnit, &record).new.map { .parameterSet($0) } ?? .other
    case .sei, .suffixSEI:
      // Zero bytes at the end are a finding of their own.
      let endsProperly = nalUnit[Self.countWithoutTrailingZeros(nalUnit) - 1] == 0x80
      do throws(BitstreamError) {
        try pictures.read(messages: nalUnit, &record, sets: sets, trace: trace)
      } catch {
        record.error = error
      }
      return .messages(endsProperly: endsProperly)
    case .accessUnitDelimiter: return read(delimiter: nalUnit, &record, trace)
    case .end: pictures.endSequence(Codec.NALUnitType(rawValue: record.type))
    case .other where Codec.NALUnitType(rawValue: record.type) == .dolbyVisionRPU:
      if record.layerID ?? 0 == 0 { return read(rpu: nalUnit, &record, trace) }
    case .slice, .slicePart, .layerSlice, .filler, .outsideStandard, .other: break
    }
    return .other
  }

  private func read(
    rpu nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, _ trace: SyntaxTrace?
  ) -> WalkedNALUnit<Codec>.Content {
    // The Recommendation leaves the type to applications: others may use it.
    guard DolbyVision.RPU.hasPrefix(nalUnit, headerLength: Codec.nalUnitHeaderLength) else { return .other }
    do throws(BitstreamError) {
      let rpu = try DolbyVision.RPU(nalUnit: nalUnit, codec: Codec.codec, trace: trace)
      return .rpu(WalkedRPU(profile: rpu.profile(Codec.codec), hasValidCRC: rpu.hasValidCRC))
    } catch {
      record.error = error
      return .rpu(nil)
    }
  }

  private func read(
    delimiter nalUnit: Span<UInt8>, _ record: inout NALUnitRecord, _ trace: SyntaxTrace?
  ) -> WalkedNALUnit<Codec>.Content {
    var reader = BitReader(nalUnit, from: Codec.nalUnitHeaderLength, trace: trace)
    var type: UInt32?
    do throws(BitstreamError) {
      type = try reader.u(3, Codec.delimiterElement)
      try reader.trailingBits()
    } catch {
      record.error = error
    }
    return .delimiter(type)
  }

  /// Reads a NAL unit of a container's configuration record. Returns its parameter set, if that is new.
  mutating func read(
    outOfBand nalUnit: Span<UInt8>, of configuration: inout WalkedConfiguration
  ) -> (header: NALUnitHeaderDefects, record: NALUnitRecord, set: WalkedParameterSet<Codec>?) {
    var record = NALUnitRecord()
    record.size = nalUnit.count
    let header = Codec.readHeader(nalUnit, &record, wantsFields: true)
    let role = Codec.role(of: nalUnit)
    guard role.isParameterSet else { return (header, record, nil) }
    let (content, set) = read(parameterSet: nalUnit, &record)
    if role == .sequenceParameterSet {
      let sps = content.flatMap { Codec.sequenceParameterSet($0) }
      configuration.add(sps.map { (Codec.configurationFields($0), Codec.format($0)) })
    }
    return (header, record, set)
  }

  /// Stores a parameter set.
  ///
  /// - Returns: the contents, nil if they cannot be read; and the report of a set that was not there before.
  private mutating func read(
    parameterSet nalUnit: Span<UInt8>, _ record: inout NALUnitRecord
  ) -> (content: Codec.ParameterSet?, new: WalkedParameterSet<Codec>?) {
    let isReplacement = sets.holdsSet(withIDOf: nalUnit)
    var change = ParameterSetChange.added
    do throws(BitstreamError) {
      change = try sets.insert(nalUnit.extracting(0..<Self.countWithoutTrailingZeros(nalUnit)))
    } catch {
      // The record gets the error.
    }
    let isNew = change != .unchanged
    guard isNew || options.includesFields else {
      return (Codec.readParameterSet(nalUnit, &record, sets: sets, trace: nil)?.content, nil)
    }
    var full = record
    if full.fields.isEmpty { _ = Codec.readHeader(nalUnit, &full, wantsFields: true) }
    let trace = SyntaxTrace()
    let set = Codec.readParameterSet(nalUnit, &full, sets: sets, trace: trace)
    (record.parameterSetID, record.error) = (full.parameterSetID, full.error)
    for element in trace.elements { full.fields.append(SyntaxField(element)) }
    if options.includesFields { record.fields = full.fields }
    guard isNew else { return (set?.content, nil) }
    full.bytes.removeAll()
    for index in 0..<nalUnit.count { full.bytes.append(nalUnit[index]) }
    return (set?.content, WalkedParameterSet(set, isReplacement: isReplacement, full))
  }

  /// Writers of records take zero bytes along that stood between two NAL units of a byte stream; the set is the same.
  private static func countWithoutTrailingZeros(_ nalUnit: Span<UInt8>) -> Int {
    var count = nalUnit.count
    while count > 1, nalUnit[count - 1] == 0 { count -= 1 }
    return count
  }
}

/// A NAL unit, or of a long one its first bytes and the last.
struct NALUnitBytes: ~Escapable {
  /// The first bytes: all, or as many as its slice header can have.
  let head: Span<UInt8>
  /// Bytes of the whole NAL unit.
  let size: Int
  /// Its last byte.
  let last: UInt8

  /// Whether ``head`` is all of it.
  var isWhole: Bool { head.count == size }

  /// A whole NAL unit of one byte at least.
  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) { self.init(head: bytes, size: bytes.count, last: bytes[bytes.count - 1]) }

  @_lifetime(copy head)
  init(head: Span<UInt8>, size: Int, last: UInt8) { (self.head, self.size, self.last) = (head, size, last) }
}

/// The header of a slice. It is read once, to find the start of access units and to report pictures.
///
/// A class, because headers are large: code that needs a part copies no more.
final class SliceReading<Codec: ReportedCodec> {
  /// The header; nil if it cannot be read.
  let header: Codec.WholeSliceHeader?
  /// The reason that it cannot be read; nil if it can.
  let error: BitstreamError?
  /// Its syntax elements; nil if they are not reported.
  let trace: SyntaxTrace?

  init(_ nalUnit: Span<UInt8>, _ sets: borrowing Codec.ParameterSets, trace: SyntaxTrace?) {
    self.trace = trace
    do throws(BitstreamError) {
      header = try Codec.WholeSliceHeader(nalUnit: nalUnit, parameterSets: sets, trace: trace)
      error = nil
    } catch {
      header = nil
      self.error = error
    }
  }
}

/// A whole slice header.
protocol WholeSliceHeaderSyntax: Sendable {
  associatedtype SliceHeader: SliceHeaderSyntax
  /// The part that distinguishes pictures.
  var header: SliceHeader { get }
  init(
    nalUnit: Span<UInt8>, parameterSets: borrowing SliceHeader.ParameterSets, trace: SyntaxTrace?
  ) throws(BitstreamError)
}

extension H264.WholeSliceHeader: WholeSliceHeaderSyntax {}
extension H265.WholeSliceHeader: WholeSliceHeaderSyntax {}

/// Looks for byte sequences that a NAL unit must not contain (H.264 7.4.1, H.265 7.4.2).
enum EmulationPrevention {
  /// The offset of the first forbidden sequence: 00 00 00, 00 00 01, 00 00 02, or 00 00 03 before a byte above 3.
  /// `cabac_zero_words` (00 00 03 at the end) are allowed.
  static func firstViolation(_ bytes: Span<UInt8>) -> Int? {
    var next = 0
    while let first = AnnexB.zeroPair(in: bytes, from: next), first + 2 < bytes.count {
      let third = bytes[first + 2]
      if third < 3 { return first }
      if third == 3, first + 3 < bytes.count, bytes[first + 3] > 3 { return first }
      // The third byte is not zero, so that no pair begins before the fourth.
      next = first + 3
    }
    return nil
  }
}
