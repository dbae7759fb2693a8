// SPDX-License-Identifier: MPL-2.0

/// Reads the format of each access unit before it is decoded: follows parameter sets, in-band and out of band, and
/// finds the SPS of an access unit's first slice.
struct FormatTracker<Codec: ElementCodecSyntax>: Sendable {
  typealias Summary = FormatSummary<Codec.NALUnitType>

  /// The parameter sets received so far.
  private(set) var parameterSets = Codec.ParameterSets()
  /// The format of the last access unit; `nil` until a slice came with its parameter sets.
  private(set) var format: FormatDescription?
  /// Whether the active SPS has a VUI, whose absent fields have inferred values (H.264 E.2.1, H.265 E.3.1).
  var hasVUI: Bool {
    activeID.flatMap { parameterSets.sequenceParameterSet($0) }?.hasVUI ?? false
  }
  /// Size of the stream's length prefixes; `nil` for start codes.
  let nalLengthSize: NALLengthSize?

  /// Mastering display and content light level, by the SEI so far, followed only on demand.
  private(set) var display = DisplayMetadata()
  /// Whether `display` is followed.
  var followsDisplay = false

  private var activeID: UInt8?
  /// From SEI since the last slice.
  private var announcedDisplay = DisplayMetadata()
  private var isStale = false

  /// Creates a tracker without parameter sets.
  init(nalLengthSize: NALLengthSize?) { self.nalLengthSize = nalLengthSize }

  /// Takes parameter sets from out of band; unreadable ones are ignored.
  ///
  /// The first SPS describes the format until an access unit says otherwise.
  mutating func insert(_ nalUnits: [[UInt8]]) {
    for unit in nalUnits { insert(unit.span) }
    if activeID == nil { activate(nil) }
  }

  /// Reads an access unit as far as its first slice.
  mutating func inspect(_ accessUnit: Span<UInt8>) -> Summary {
    var summary = Summary()
    if let nalLengthSize {
      var units = LengthPrefixed.NALUnits(accessUnit, lengthSize: nalLengthSize)
      do throws(BitstreamError) {
        while !summary.hasSlice, let range = try units.next() { visit(accessUnit.extracting(range), &summary) }
      } catch {
        // What precedes a bad length was read; the decoder judges the rest.
      }
      return summary
    }
    var start = AnnexB.startCode(in: accessUnit)
    while let unit = start.map({ $0 + 3 }), unit < accessUnit.count, !summary.hasSlice {
      if Codec.NALUnitType(headerByte: accessUnit[unit]).isVCL {
        // The end of a slice is not needed, and far away.
        visit(accessUnit.extracting(unit...), &summary)
        break
      }
      start = AnnexB.startCode(in: accessUnit, from: unit)
      visit(accessUnit.extracting(unit..<trimmed(accessUnit, from: unit, to: start)), &summary)
    }
    return summary
  }

  /// The end of a NAL unit: before the next start code and trailing zeros.
  private func trimmed(_ bytes: Span<UInt8>, from start: Int, to next: Int?) -> Int {
    var end = next ?? bytes.count
    while end > start + 1, bytes[end - 1] == 0 { end -= 1 }
    return end
  }

  private mutating func visit(_ nalUnit: Span<UInt8>, _ summary: inout Summary) {
    guard nalUnit.count > 0 else { return }
    summary.nalUnitCount += 1
    switch Codec.role(of: nalUnit) {
    case .videoParameterSet, .sequenceParameterSet, .sequenceParameterSetExtension, .pictureParameterSet:
      insert(nalUnit)
    case .sei:
      if followsDisplay { announcedDisplay.read(nalUnit, headerLength: Codec.nalUnitHeaderLength) }
    case .slice: visitSlice(nalUnit, &summary)
    default: break
    }
  }

  private mutating func visitSlice(_ nalUnit: Span<UInt8>, _ summary: inout Summary) {
    let type = Codec.NALUnitType(headerByte: nalUnit[0])
    summary.hasSlice = true
    summary.sliceType = type
    summary.isIDR = type.isIDR
    summary.isRandomAccessPoint = type.isRandomAccessPoint
    if followsDisplay { summary.displayChanged = takeDisplay(startsSequence: type.isIDR) }
    do throws(BitstreamError) {
      let slice = try Codec.SliceHeader(nalUnit: nalUnit, parameterSets: parameterSets, depth: .pictureIdentity)
      summary.isField = slice.isField
      summary.scan = parameterSets.sequenceParameterSet(slice.sequenceParameterSetID).map {
        Codec.scan(slice, sps: $0)
      }
      if isStale || slice.sequenceParameterSetID != activeID {
        summary.formatChanged = activate(slice.sequenceParameterSetID)
      }
    } catch {
      summary.lacksParameterSets = error.reason == .missingParameterSet
    }
  }

  /// Returns whether SEI has changed ``display``.
  private mutating func takeDisplay(startsSequence: Bool) -> Bool {
    let before = display
    // It lasts until the end of the coded video sequence (H.264, D.2.29; H.265, D.3.28).
    if startsSequence { display = DisplayMetadata() }
    display.masteringDisplay = announcedDisplay.masteringDisplay ?? display.masteringDisplay
    display.contentLight = announcedDisplay.contentLight ?? display.contentLight
    display.alternativeTransfer = announcedDisplay.alternativeTransfer ?? display.alternativeTransfer
    announcedDisplay = DisplayMetadata()
    return display != before
  }

  private mutating func insert(_ nalUnit: Span<UInt8>) {
    do throws(BitstreamError) {
      if try parameterSets.insert(nalUnit) != .unchanged { isStale = true }
    } catch {
      // The stored set with this id, if any, stays.
    }
  }

  /// Describes the stream by this SPS, or by the first. Returns whether the description has changed.
  @discardableResult
  private mutating func activate(_ id: UInt8?) -> Bool {
    do throws(BitstreamError) {
      let next = try Codec.formatDescription(parameterSets, sequenceParameterSetID: id, nalLengthSize: nalLengthSize)
      activeID = id
      isStale = false
      let changed = format.map { !$0.describesSameVideo(as: next) } ?? true
      format = next
      return changed
    } catch {
      return false
    }
  }
}
