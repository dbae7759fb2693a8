// SPDX-License-Identifier: MPL-2.0
import H26x
import Slices

/// Reads the slice data of access units, for the rules and for statistics.
///
/// It remembers nothing of earlier access units, so that each may be read by another reader.
struct AccessUnitDataReader<Codec: CountedCodec> {
  /// Reads slices for the rules; nil if they are not wanted, or if `counting` reads them for the rules too.
  private var checking: SliceWalk<Codec.SliceVerifier>?
  /// Counts blocks; nil if they are not counted.
  private var counting: PictureCounting<Codec>?

  init(_ options: ReportOptions) {
    counting = options.countedAccessUnits.map {
      PictureCounting($0, listsBlocks: options.listsBlocks, readsSliceData: options.readsSliceData)
    }
    if options.readsSliceData, counting?.servesRules != true { checking = SliceWalk() }
  }

  /// Whether it reads the slices of an access unit.
  func reads(_ accessUnit: UInt64) -> Bool { checking != nil || counting?.range.contains(accessUnit) == true }

  /// Takes a NAL unit of an access unit.
  ///
  /// - Parameter sets: the parameter sets before it.
  mutating func take(
    _ nalUnit: Span<UInt8>, _ context: NALUnitContext<Codec>, _ sets: borrowing Codec.ParameterSets,
    ofAccessUnit index: UInt64
  ) {
    checking?.take(nalUnit, at: context.offset, context.slice, startsPicture: context.startsPicture, sets)
    counting?.take(
      nalUnit, at: context.offset, context.slice, startsPicture: context.startsPicture, sets, context.references,
      ofAccessUnit: index)
  }

  /// Ends an access unit.
  mutating func endAccessUnit(_ index: UInt64, _ sets: borrowing Codec.ParameterSets) -> SliceDataResult {
    var result = SliceDataResult()
    if let (totals, defects) = checking?.endAccessUnit(sets) { (result.totals, result.defects) = (totals, defects) }
    counting?.endAccessUnit(index, sets, &result)
    return result
  }
}

/// A NAL unit's place in the stream, and its slice header.
struct NALUnitContext<Codec: ReportedCodec> {
  /// The offset of its header in the file.
  var offset: UInt64
  /// Its header as read, if it is a slice of the base layer.
  var slice: SliceReading<Codec>?
  /// Whether it is the first slice of a picture.
  var startsPicture: Bool
  /// The pictures that it may refer to, if it is a slice whose blocks are counted.
  var references = SliceReferences()
}

/// The slice data of an access unit.
struct SliceDataResult: Sendable {
  /// In decoding order.
  var defects: [SliceDefect] = []
  var totals = SliceDataTotals()
  /// Nil unless its blocks are counted.
  var statistics: PictureStatistics?
  /// Its blocks, if they are listed.
  var blocks: [BlockRecord] = []
}
