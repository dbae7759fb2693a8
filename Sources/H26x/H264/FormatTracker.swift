// SPDX-License-Identifier: MPL-2.0

extension H264 {
  /// Knows the format of each access unit before it is decoded: follows parameter sets, in-band and out of band, and
  /// finds the SPS that an access unit's first slice is coded with.
  public struct FormatTracker: Sendable {
    /// The parameter sets received so far.
    public private(set) var parameterSets = ParameterSets()
    /// The format of the last access unit; `nil` as long as no slice had its parameter sets.
    public private(set) var format: FormatDescription?
    /// Whether the SPS in force has a VUI, whose absent fields then have their inferred values (E.2.1).
    public var hasVUI: Bool {
      activeID.flatMap { parameterSets.sequenceParameterSet($0) }?.vui != nil
    }
    /// How access units are packaged; `nil` for start codes.
    public let nalLengthSize: NALLengthSize?

    /// How the picture is meant to be shown, by the SEI of the access units so far; kept up only on demand.
    public private(set) var display = DisplayMetadata()
    /// Whether `display` is kept up.
    public var followsDisplay = false

    private var activeID: UInt8?
    /// What SEI said since the last slice.
    private var announcedDisplay = DisplayMetadata()
    private var isStale = false

    /// What an access unit holds.
    public struct Summary: Sendable, Hashable {
      /// The format differs from the access unit's before.
      public var formatChanged = false
      /// What SEI says of how to show the pictures differs from the access unit's before.
      public var displayChanged = false
      /// There is a slice, whether or not its parameter sets are known.
      public var hasSlice = false
      /// The first slice names parameter sets that were never sent.
      public var lacksParameterSets = false
      /// The first slice is of an IDR picture.
      public var isIDR = false
      /// The picture is one field.
      public var isField = false
      /// How the picture is scanned, as far as the way it is coded tells; `nil` when the first slice cannot be read.
      public var scan: PictureScan?
      /// `nal_unit_type` of the first slice.
      public var sliceType: NALUnitType?
      /// NAL units up to and including the first slice.
      public var nalUnitCount = 0
    }

    /// Creates a tracker that knows no parameter sets.
    public init(nalLengthSize: NALLengthSize?) { self.nalLengthSize = nalLengthSize }

    /// Takes parameter sets from out of band; those that cannot be read are left out.
    ///
    /// The first SPS describes the format until an access unit says otherwise.
    public mutating func insert(_ nalUnits: [[UInt8]]) {
      for unit in nalUnits { insert(unit.span) }
      if activeID == nil { activate(nil) }
    }

    /// Reads an access unit as far as its first slice.
    public mutating func inspect(_ accessUnit: Span<UInt8>) -> Summary {
      var summary = Summary()
      if let nalLengthSize {
        var units = LengthPrefixed.NALUnits(accessUnit, lengthSize: nalLengthSize)
        do throws(BitstreamError) {
          while !summary.hasSlice, let range = try units.next() { visit(accessUnit.extracting(range), &summary) }
        } catch {
          // What stands before a bad length was read; the decoder judges the rest.
        }
        return summary
      }
      var start = AnnexB.startCode(in: accessUnit)
      while let unit = start.map({ $0 + 3 }), unit < accessUnit.count, !summary.hasSlice {
        if NALUnitType(rawValue: accessUnit[unit]).isVCL {
          // The end of a slice is of no interest and far away.
          visit(accessUnit.extracting(unit...), &summary)
          break
        }
        start = AnnexB.startCode(in: accessUnit, from: unit)
        visit(accessUnit.extracting(unit..<trimmed(accessUnit, from: unit, to: start)), &summary)
      }
      return summary
    }

    /// The end of a NAL unit: before the next start code and its leading zeros.
    private func trimmed(_ bytes: Span<UInt8>, from start: Int, to next: Int?) -> Int {
      var end = next ?? bytes.count
      while end > start + 1, bytes[end - 1] == 0 { end -= 1 }
      return end
    }

    private mutating func visit(_ nalUnit: Span<UInt8>, _ summary: inout Summary) {
      guard nalUnit.count > 0 else { return }
      summary.nalUnitCount += 1
      let type = NALUnitType(rawValue: nalUnit[0])
      switch type {
      case .sequenceParameterSet, .pictureParameterSet, .subsetSequenceParameterSet, .sequenceParameterSetExtension:
        insert(nalUnit)
      case .sei:
        if followsDisplay { announcedDisplay.read(nalUnit) }
      case .slice, .slicePartitionA, .idrSlice:
        summary.hasSlice = true
        summary.sliceType = type
        summary.isIDR = type == .idrSlice
        if followsDisplay { summary.displayChanged = takeDisplay(startsSequence: summary.isIDR) }
        do throws(BitstreamError) {
          let slice = try SliceHeader(nalUnit: nalUnit, parameterSets: parameterSets)
          summary.isField = slice.isField
          summary.scan = parameterSets.sequenceParameterSet(slice.sequenceParameterSetID).map {
            PictureScan(slice, sps: $0)
          }
          if isStale || slice.sequenceParameterSetID != activeID {
            summary.formatChanged = activate(slice.sequenceParameterSetID)
          }
        } catch {
          summary.lacksParameterSets = error.reason == .missingParameterSet
        }
      default: break
      }
    }

    /// Answers whether what SEI announced is news.
    private mutating func takeDisplay(startsSequence: Bool) -> Bool {
      let before = display
      // It lasts until the next sequence begins, which says it again (D.2.29).
      if startsSequence { display = DisplayMetadata() }
      display.masteringDisplay = announcedDisplay.masteringDisplay ?? display.masteringDisplay
      display.contentLight = announcedDisplay.contentLight ?? display.contentLight
      announcedDisplay = DisplayMetadata()
      return display != before
    }

    private mutating func insert(_ nalUnit: Span<UInt8>) {
      do throws(BitstreamError) {
        if try parameterSets.insert(nalUnit) != .unchanged { isStale = true }
      } catch {
        // The set that was there before, if any, stays.
      }
    }

    /// Describes the stream by this SPS, or by the first. Answers whether that differs from before.
    @discardableResult
    private mutating func activate(_ id: UInt8?) -> Bool {
      do throws(BitstreamError) {
        let next = try FormatDescription(
          parameterSets, sequenceParameterSetID: id, nalLengthSize: nalLengthSize)
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
}
