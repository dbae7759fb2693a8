// SPDX-License-Identifier: MPL-2.0
import H26x

/// The source's side of a seam that is not finished: its access units and their parameter sets.
struct OpenSeam<Codec: SeamSyntax> {
  /// The parameter sets up to now.
  private(set) var sets = Codec.ParameterSets()
  /// The parameter sets of encoded pictures; `nil` before the first one.
  var target: Codec.SeamSets?
  /// The reference pictures up to now; `nil` if they need not be followed.
  var references = Codec.sourceReferences
  /// How full the coded picture buffer is in front of the seam, from 0 to 1; `nil` if that is not known.
  var fullness: Double?
  /// The messages of encoded pictures.
  var accompanying = AccompanyingMessages<Codec>()
  /// The pictures that are encoded: their access units without bytes. A frame has the times of both fields.
  private(set) var encoded: [MediaOutput.AccessUnit] = []
  /// Access units that are not decoded yet.
  private var waiting: [MediaOutput.AccessUnit] = []
  /// The number of the format of its access units; `nil` before the first one.
  private(set) var formatNumber: Int?
  /// How much earlier the source decodes entries than it shows them, by the first access unit.
  private(set) var depth: Int64?
  /// Whether access units begin with delimiters.
  private(set) var hasDelimiters = false
  /// Whether access units have slices of layers or views above the base.
  private(set) var hasLayers = false
  /// Whether the copy has parameter sets in-band.
  let isInBand: Bool
  let format: MediaOutput.VideoFormat
  private let hasStartCodes: Bool
  let packaging: NALPackaging

  init(_ format: MediaOutput.VideoFormat, hasStartCodes: Bool) {
    (self.format, self.hasStartCodes) = (format, hasStartCodes)
    isInBand = hasStartCodes || format.allowsInBandParameterSets
    var packaging = NALPackaging.annexB
    do throws(BitstreamError) {
      let record = try Codec.ConfigurationRecord(format.configuration.span)
      if !hasStartCodes { packaging = .lengthPrefixed(record.nalLengthSize) }
      for nalUnit in record.nalUnits { try sets.insert(nalUnit.span) }
    } catch {
      // The parameter sets are in-band.
    }
    self.packaging = packaging
  }

  /// Reads the parameter sets of the next access unit, and the kinds of its NAL units.
  mutating func read(_ accessUnit: MediaOutput.AccessUnit) {
    formatNumber = formatNumber ?? accessUnit.format
    depth = depth ?? accessUnit.presentation &- accessUnit.decoding
    for nalUnit in accessUnit.role.parameterSets { insert(nalUnit.span) }
    for range in packaging.nalUnits(of: accessUnit.bytes.span) where !range.isEmpty {
      let type = Codec.NALUnitType(headerByte: accessUnit.bytes[range.lowerBound])
      if type == .accessUnitDelimiter { hasDelimiters = true }
      if type.isParameterSet { insert(accessUnit.bytes.span.extracting(range)) }
      if Codec.isLayer(accessUnit.bytes.span.extracting(range)) { hasLayers = true }
    }
  }

  /// Reads a parameter set.
  mutating func insert(_ nalUnit: Span<UInt8>) {
    // Slices that need a set that cannot be read are refused.
    do throws(BitstreamError) { try sets.insert(nalUnit) } catch {}
  }

  /// Follows the references of an access unit that was read.
  mutating func follow(_ accessUnit: MediaOutput.AccessUnit) {
    let (packaging, sets) = (packaging, sets)
    references?.next(accessUnit, packaging, sets)
  }

  /// Takes an access unit that was read. It is decoded when the one behind the seam is known, because the numbers of
  /// encoded pictures may lead up to that.
  mutating func take(_ accessUnit: MediaOutput.AccessUnit) {
    follow(accessUnit)
    readMessages(of: accessUnit)
    waiting.append(accessUnit)
    guard accessUnit.disposition == .encoded else { return }
    var frame = accessUnit
    frame.bytes = []
    if accessUnit.role.isSecondField, let first = encoded.popLast() {
      frame = first
      frame.duration = max(first.duration, accessUnit.presentation &+ accessUnit.duration &- first.presentation)
    }
    encoded.append(frame)
  }

  /// Whether an access unit has SEI messages in front of its slices. Most have none, and are not read any further.
  func hasMessages(_ accessUnit: MediaOutput.AccessUnit) -> Bool {
    let front = accessUnit.bytes.span.extracting(first: Self.frontSize)
    return packaging.nalUnits(of: front).contains { Codec.role(of: front.extracting($0)) == .sei }
  }

  /// More bytes than are in front of slices.
  private static var frontSize: Int { 1 << 14 }

  /// Reads the messages of an access unit that was read.
  mutating func readMessages(of accessUnit: MediaOutput.AccessUnit) {
    let id = accessUnit.disposition == .encoded ? header(of: accessUnit)?.sequenceParameterSetID : nil
    accompanying.take(accessUnit, packaging, sets, id)
  }

  /// Takes the access units that are not decoded yet out of the seam. Decoding can begin with them.
  mutating func takeWaiting() -> [MediaOutput.AccessUnit] {
    var accessUnits = waiting
    waiting = []
    if let first = accessUnits.first { accessUnits[0].bytes = completed(first) }
    return accessUnits
  }

  /// The SPS of an access unit's first slice; `nil` without a slice.
  func spsNALUnit(of accessUnit: MediaOutput.AccessUnit) throws(SeamObstacle) -> [UInt8]? {
    guard let header = header(of: accessUnit) else { throw .damage }
    return Codec.sequenceParameterSets(of: sets).first {
      Codec.ParameterSets.sequenceParameterSetID(of: $0.span) == header.sequenceParameterSetID
    }
  }

  /// The header of an access unit's first slice; `nil` if it cannot be read.
  func header(of accessUnit: MediaOutput.AccessUnit) -> Codec.SliceHeader? {
    let bytes = accessUnit.bytes
    for range in packaging.nalUnits(of: bytes.span) where Codec.role(of: bytes.span.extracting(range)) == .slice {
      do throws(BitstreamError) {
        return try Codec.SliceHeader(
          nalUnit: bytes.span.extracting(range), parameterSets: sets, depth: .pictureIdentity)
      } catch { return nil }
    }
    return nil
  }

  /// The SPS of an access unit's first slice; `nil` if it cannot be read.
  func sequenceParameterSet(of accessUnit: MediaOutput.AccessUnit) -> Codec.SequenceParameterSet? {
    header(of: accessUnit).flatMap { sets.sequenceParameterSet($0.sequenceParameterSetID) }
  }

  /// How full the buffer is when an access unit is removed, from 0 to 1, by its buffering period; `nil` without one.
  func bufferFullness(at accessUnit: MediaOutput.AccessUnit) -> Double? {
    guard let sps = sequenceParameterSet(of: accessUnit) else { return nil }
    let bytes = accessUnit.bytes
    for range in packaging.nalUnits(of: bytes.span) where Codec.role(of: bytes.span.extracting(range)) == .sei {
      var messages = SEIMessages(bytes.span.extracting(range), headerLength: Codec.nalUnitHeaderLength)
      do throws(BitstreamError) {
        while let message = try messages.next() {
          guard message.type == .bufferingPeriod else { continue }
          return Codec.bufferingPeriod(message, sets).flatMap { Codec.fullness(at: $0, sps) }
        }
      } catch {
        // The messages in front of it were read.
      }
    }
    return nil
  }

  /// An access unit whose picture is removed so many ticks after the last buffering period in front of it.
  func counting(_ removalDelay: UInt32, _ sps: Codec.SequenceParameterSet, _ accessUnit: [UInt8]) -> [UInt8] {
    var nalUnits: [[UInt8]] = []
    var isBehindSlice = false
    for range in packaging.nalUnits(of: accessUnit.span) {
      let nalUnit = accessUnit.span.extracting(range)
      let role = Codec.role(of: nalUnit)
      // The second field of a sample counts from the first, if that has a buffering period.
      isBehindSlice = isBehindSlice || role == .slice
      let counting = role == .sei && !isBehindSlice ? counting(removalDelay, sps, nalUnit) : nil
      nalUnits.append(counting ?? Array(accessUnit[range]))
    }
    do throws(SeamObstacle) { return try packaged(nalUnits) } catch { return accessUnit }
  }

  /// - Returns: `nil` if the NAL unit has no removal delay.
  private func counting(
    _ removalDelay: UInt32, _ sps: Codec.SequenceParameterSet, _ nalUnit: Span<UInt8>
  ) -> [UInt8]? {
    guard SEIMessages.hold(.pictureTiming, nalUnit, headerLength: Codec.nalUnitHeaderLength) else { return nil }
    var (all, isChanged): ([(type: SEIPayloadType, payload: [UInt8])], Bool) = ([], false)
    var messages = SEIMessages(nalUnit, headerLength: Codec.nalUnitHeaderLength)
    do throws(BitstreamError) {
      while let message = try messages.next() {
        var payload = try message.payload()
        if message.type == .pictureTiming,
          let counting = Codec.pictureTiming(message, sps, removalDelay: removalDelay)
        {
          (payload, isChanged) = (counting, true)
        }
        all.append((message.type, payload))
      }
    } catch { return nil }
    return isChanged ? seiNALUnit(all, header: Codec.prefixHeader) : nil
  }

  /// An access unit with messages in front of its slices. It keeps messages of the same types.
  func adding(
    _ messages: [(type: SEIPayloadType, payload: [UInt8])], to accessUnit: [UInt8]
  ) throws(SeamObstacle) -> [UInt8] {
    var nalUnits = packaging.nalUnits(of: accessUnit.span).map { Array(accessUnit[$0]) }
    let place = nalUnits.firstIndex { [.slice, .slicePart].contains(Codec.role(of: $0.span)) } ?? nalUnits.endIndex
    let added = messages.filter { message in
      !nalUnits.contains {
        Codec.role(of: $0.span) == .sei
          && SEIMessages.hold(message.type, $0.span, headerLength: Codec.nalUnitHeaderLength)
      }
    }
    guard !added.isEmpty else { return accessUnit }
    nalUnits.insert(contentsOf: added.map { seiNALUnit([$0], header: Codec.prefixHeader) }, at: place)
    return try packaged(nalUnits)
  }

  /// An IRAP or IDR access unit as the beginning of a coded video sequence; `nil` if it cannot be read.
  func beginningSequence(_ accessUnit: MediaOutput.AccessUnit) -> MediaOutput.AccessUnit? {
    let nalUnits = packaging.nalUnits(of: accessUnit.bytes.span).map { Array(accessUnit.bytes[$0]) }
    var beginning = accessUnit
    beginning.bytes = []
    do throws(BitstreamError) {
      for nalUnit in try Codec.beginningSequence(nalUnits, sets) {
        try packaging.append(nalUnit.span, to: &beginning.bytes)
      }
    } catch { return nil }
    return beginning
  }

  /// NAL units, packaged as those of the copy.
  func packaged(_ nalUnits: [[UInt8]]) throws(SeamObstacle) -> [UInt8] {
    var bytes: [UInt8] = []
    do throws(BitstreamError) {
      for nalUnit in nalUnits { try packaging.append(nalUnit.span, to: &bytes) }
    } catch { throw .unsupported("an encoded picture is too large for the length prefixes of the container") }
    return bytes
  }

  /// An access unit's bytes with its parameter sets.
  func completed(_ accessUnit: MediaOutput.AccessUnit) -> [UInt8] {
    format.roleReader(hasStartCodes: hasStartCodes)
      .completed(accessUnit.bytes, with: accessUnit.role.parameterSets)
  }
}
