// SPDX-License-Identifier: MPL-2.0
import H26x
import Slices

/// Reads the slice data of a stream's pictures, and checks that the slices of each picture cover it.
///
/// It is given each NAL unit in decoding order, then the end of each access unit, behind which it remembers nothing.
/// Damage ends one slice; the next one is read. It keeps a copy of a NAL unit only for data partitions.
struct SliceWalk<Reader: SliceDataReading> {
  typealias Codec = Reader.Codec

  /// Reads slice data.
  var reader = Reader()
  /// The slices of the access unit so far.
  private var totals = SliceDataTotals()
  private var defects: [SliceDefect] = []
  private var picture = PictureCoverage()
  /// The last slice of the picture whose header can be read.
  private var last: Codec.SliceHeader?
  /// Data partition A, while B and C may follow.
  private var partitioned: PartitionedSlice?

  init() {}

  /// Takes a NAL unit of any type.
  ///
  /// - Parameters:
  ///   - nalUnit: the whole NAL unit, header included.
  ///   - offset: the offset of its header in the file.
  ///   - slice: its header as read, if it is a slice of the base layer.
  ///   - startsPicture: whether it is the first slice of a picture.
  ///   - sets: the parameter sets before it.
  mutating func take(
    _ nalUnit: Span<UInt8>, at offset: UInt64, _ slice: SliceReading<Codec>?, startsPicture: Bool,
    _ sets: borrowing Codec.ParameterSets
  ) {
    if let later = Codec.laterPartition(nalUnit) { return take(later, nalUnit, at: offset) }
    finishPartitions(sets)
    switch Codec.role(of: nalUnit) {
    case .slice: break
    case .layerSlice, .slicePart:
      totals.otherLayers += 1
      return
    default: return
    }
    guard let whole = slice?.header, let place = Codec.place(of: whole, sets) else {
      // The rule about slice headers reports it.
      if startsPicture { endPicture(sets) }
      picture.number += 1
      picture.lose()
      totals.unreadableHeaders += 1
      return
    }
    let lacksFirst = last.map { Codec.lacksFirstSlice(whole.header, after: $0) } ?? false
    if startsPicture || lacksFirst { endPicture(sets) }
    last = whole.header
    picture.begin(place)
    picture.number += 1
    if let id = Codec.partitionedSliceID(nalUnit, whole) {
      partitioned = PartitionedSlice(nalUnit, id: id, place, at: offset, number: picture.number)
      return
    }
    let none = nalUnit.extracting(first: 0)
    read(nalUnit, none, none, place, at: offset, number: picture.number, sets)
  }

  /// Ends the access unit, and checks that its last picture is complete. Returns its slices and its defects, in decoding
  /// order.
  mutating func endAccessUnit(
    _ sets: borrowing Codec.ParameterSets
  ) -> (totals: SliceDataTotals, defects: [SliceDefect]) {
    endPicture(sets)
    defer { (totals, defects) = (SliceDataTotals(), []) }
    return (totals, defects)
  }

  // MARK: Slices

  private mutating func read(
    _ nalUnit: Span<UInt8>, _ partitionB: Span<UInt8>, _ partitionC: Span<UInt8>, _ place: SlicePlace,
    at offset: UInt64, number: Int, _ sets: borrowing Codec.ParameterSets
  ) {
    if let missing = picture.gap(before: place) {
      report(.missingBlocks(missing, isAtEnd: false), at: offset, number: number)
    }
    if place.isDependent, !picture.canContinue(place) {
      totals.dependentSegments += 1
      return picture.lose()
    }
    do throws(SliceDamage) {
      let extent = try reader.read(nalUnit, partitionB: partitionB, partitionC: partitionC, sets)
      totals.add(extent)
      picture.add(extent, place, at: offset, byteCount: nalUnit.count)
      let limits = reader.limits
      guard limits.hasViolations else { return }
      for limit in LimitViolation.Limit.allCases {
        if let violation = limits.violation(of: limit) { report(.limit(violation), at: offset, number: number) }
      }
    } catch {
      picture.lose()
      guard error.reason != .unsupported else {
        totals.unsupported += 1
        return
      }
      totals.damaged += 1
      report(.damage(error), at: offset, number: number)
    }
  }

  private mutating func report(_ kind: SliceDefect.Kind, at offset: UInt64, number: Int) {
    // They are taken at the end of the access unit, and only the first fifty findings of a rule are listed.
    guard defects.count < Self.defectLimit else { return }
    defects.append(SliceDefect(kind: kind, offset: offset, slice: max(0, number - 1)))
  }

  /// More slices than a picture has.
  private static var defectLimit: Int { 150_000 }

  // MARK: Data partitions

  /// Data partition A, and those of its slice that follow it.
  private struct PartitionedSlice {
    let a: [UInt8]
    var b: [UInt8] = []
    var c: [UInt8] = []
    let id: UInt32
    let place: SlicePlace
    let offset: UInt64
    let number: Int

    init(_ nalUnit: Span<UInt8>, id: UInt32, _ place: SlicePlace, at offset: UInt64, number: Int) {
      a = [UInt8](copying: nalUnit)
      (self.id, self.place, self.offset, self.number) = (id, place, offset, number)
    }
  }

  private mutating func take(_ later: (isB: Bool, sliceID: UInt32?), _ nalUnit: Span<UInt8>, at offset: UInt64) {
    guard let slice = partitioned, slice.id == later.sliceID, later.isB ? slice.b.isEmpty : slice.c.isEmpty,
      !later.isB || slice.c.isEmpty
    else {
      picture.lose()
      totals.damaged += 1
      return report(.strayPartition, at: offset, number: picture.number)
    }
    if later.isB {
      partitioned?.b = [UInt8](copying: nalUnit)
    } else {
      partitioned?.c = [UInt8](copying: nalUnit)
    }
  }

  /// Reads the slice whose data partitions were taken.
  mutating func finishPartitions(_ sets: borrowing Codec.ParameterSets) {
    guard let slice = partitioned else { return }
    partitioned = nil
    read(slice.a.span, slice.b.span, slice.c.span, slice.place, at: slice.offset, number: slice.number, sets)
  }

  // MARK: Pictures

  private mutating func endPicture(_ sets: borrowing Codec.ParameterSets) {
    finishPartitions(sets)
    for plane in 0..<3 {
      guard let missing = picture.missingAtEnd(ofPlane: plane) else { continue }
      report(.missingBlocks(missing, isAtEnd: true), at: picture.lastOffset, number: picture.number)
    }
    if picture.isComplete, picture.bins.binCount > picture.bins.limit {
      report(.bins(picture.bins), at: picture.lastOffset, number: picture.number)
    }
    picture = PictureCoverage()
    last = nil
    reader.beginPicture()
  }
}

/// A defect of slice data.
struct SliceDefect: Sendable {
  /// The kinds of defects.
  enum Kind: Sendable {
    /// The slice cannot be read to its end.
    case damage(SliceDamage)
    /// No slice covers these blocks. At the end, they are the last ones of the picture, or of unknown places.
    case missingBlocks(MissingBlocks, isAtEnd: Bool)
    /// Data partition B or C without A, or a second one.
    case strayPartition
    /// The slice can be read, but breaks a limit.
    case limit(LimitViolation)
    /// The picture has too many bins for its bytes; the last slice is named.
    case bins(PictureBins)
  }

  var kind: Kind
  /// The offset of the NAL unit in the file.
  var offset: UInt64
  /// The number of the slice in its picture, from 0.
  var slice: Int
}

/// Blocks of a picture that no slice covers.
struct MissingBlocks: Sendable {
  /// The address of the first one, in coding order; nil if slices may come in any order.
  var first: Int?
  var count: Int
}

/// The blocks of a picture that its slices cover so far.
struct PictureCoverage: Sendable {
  /// The slices so far.
  var number = 0
  /// The offset of the last slice.
  private(set) var lastOffset: UInt64 = 0
  private var size = 0
  private var planeCount = 1
  private var isInOrder = true
  /// Where the next slice of each plane begins; nil behind a damaged slice.
  private var next: [3 of Int?] = .init(repeating: 0)
  private var counts: [3 of Int] = .init(repeating: 0)
  /// A slice could not be read.
  private var isLossy = false
  private var hasPrimarySlice = false
  /// The bins and bytes of the primary picture's slices.
  private(set) var bins = PictureBins()

  /// Takes what all slices of the picture have in common.
  mutating func begin(_ place: SlicePlace) {
    guard !place.isRedundant else { return }
    (size, planeCount) = (place.pictureSize, place.planeCount)
    bins.rawBits = place.rawBits
    isInOrder = isInOrder && place.isInOrder
    hasPrimarySlice = true
  }

  /// The blocks between the slice before and this one.
  func gap(before place: SlicePlace) -> MissingBlocks? {
    guard isInOrder, !place.isRedundant, let next = next[place.plane], place.first > next, place.first < size else {
      return nil
    }
    return MissingBlocks(first: next, count: place.first - next)
  }

  /// Whether the slice segment before a dependent one was read.
  func canContinue(_ place: SlicePlace) -> Bool { next[place.plane] == place.first && place.first > 0 }

  /// Adds a slice.
  mutating func add(_ extent: SliceExtent, _ place: SlicePlace, at offset: UInt64, byteCount: Int) {
    lastOffset = offset
    guard !place.isRedundant else { return }
    bins.add(extent, byteCount: byteCount)
    // A slice that comes too late, which the rules on headers report, fills a gap.
    next[place.plane] = max(next[place.plane] ?? 0, extent.endBlock)
    counts[place.plane] += extent.blockCount
  }

  /// Notes that the blocks of a slice are not known.
  mutating func lose() {
    isLossy = true
    next = .init(repeating: nil)
  }

  /// Whether its slices were read and cover all blocks.
  var isComplete: Bool {
    guard hasPrimarySlice, !isLossy else { return false }
    for plane in 0..<planeCount where counts[plane] < size { return false }
    return true
  }

  /// The blocks of a plane that no slice covered; nil if there are none, or slices could not be read.
  func missingAtEnd(ofPlane plane: Int) -> MissingBlocks? {
    guard hasPrimarySlice, plane < planeCount else { return nil }
    if isInOrder {
      guard let next = next[plane], next < size else { return nil }
      return MissingBlocks(first: next, count: size - next)
    }
    guard !isLossy, counts[plane] < size else { return nil }
    return MissingBlocks(first: nil, count: size - counts[plane])
  }
}
