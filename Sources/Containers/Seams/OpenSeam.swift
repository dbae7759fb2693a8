// SPDX-License-Identifier: MPL-2.0
import AVCodec
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
  /// `nil` before the first picture that is encoded.
  private(set) var coder: SeamCoder?
  /// The messages of encoded pictures.
  private(set) var accompanying = AccompanyingMessages<Codec>()
  /// Access units in front of it, which it needs.
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
      if Codec.role(of: accessUnit.bytes.span.extracting(range)) == .layerSlice { hasLayers = true }
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

  /// Decodes an access unit that was read, now or with the first one that is encoded.
  ///
  /// - Parameter samples: of pictures that the copy has, which decoding must give again.
  mutating func take(_ accessUnit: MediaOutput.AccessUnit, _ samples: [Int64: UInt64]) throws(SeamObstacle) {
    follow(accessUnit)
    let id = accessUnit.disposition == .encoded ? header(of: accessUnit)?.sequenceParameterSetID : nil
    accompanying.take(accessUnit, packaging, sets, id)
    waiting.append(accessUnit)
    guard var settings = target?.settings else { return }
    settings.initialFullness = fullness ?? settings.initialFullness
    try decodeWaiting(settings, samples)
  }

  /// Decodes all access units up to now.
  ///
  /// - Parameter settings: of the encoder; `nil` if nothing is encoded.
  mutating func decodeWaiting(_ settings: EncoderSettings? = nil, _ samples: [Int64: UInt64] = [:]) throws(SeamObstacle)
  {
    if coder == nil, !waiting.isEmpty {
      coder = try SeamCoder(settings, format, hasStartCodes: hasStartCodes, samples)
      // Decoding begins with all parameter sets.
      waiting[0].bytes = completed(waiting[0])
    }
    for accessUnit in waiting { try coder?.take(accessUnit) }
    waiting = []
  }

  /// Ends the decoding. Access units may still be read.
  mutating func endDecoding() { (coder, waiting) = (nil, []) }

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
