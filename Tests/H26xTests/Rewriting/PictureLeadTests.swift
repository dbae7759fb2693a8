// SPDX-License-Identifier: MPL-2.0

import TestSupport
import Testing

@testable import H26x

/// The numbers of pictures that lead up to a copied one.
@Suite struct PictureLeadTests {
  private static func sps(
    _ log2Maximum: UInt8, references: UInt8, isFrameOnly: Bool
  ) throws -> H264.SequenceParameterSet {
    var sps = try Samples.sps()
    sps.log2MaximumFrameNumber = 4
    sps.pictureOrderCountType = .leastSignificantBits(log2Maximum: log2Maximum)
    sps.maximumReferenceFrames = references
    sps.isFrameOnly = isFrameOnly
    if !isFrameOnly { sps.heightInMapUnits /= 2 }
    return sps
  }

  /// A reference picture.
  private static func slice(
    _ numbers: H264.PictureLead.Numbers, _ sps: H264.SequenceParameterSet, isIDR: Bool = false
  ) throws -> H264.SliceHeader {
    var pps = try H264.PictureParameterSet(bytes: Samples.highPPS)
    pps.isBottomFieldPictureOrderPresent = true
    var sets = H264.ParameterSets()
    try sets.insert(bytes: sps.nalUnit())
    try sets.insert(bytes: pps.nalUnit())
    var writer = BitWriter()
    writer.u(8, isIDR ? 0x65 : 0x61)
    for value in [0, 7, 0] as [UInt32] { writer.ue(value) }
    writer.u(4, numbers.frameNumber)
    if !sps.isFrameOnly { writer.flag(false) }
    if isIDR { writer.ue(0) }
    if case .leastSignificantBits(let count, let deltaBottom) = numbers.pictureOrder,
      case .leastSignificantBits(let log2Maximum) = sps.pictureOrderCountType
    {
      writer.u(Int(log2Maximum), count)
      writer.se(deltaBottom)
    }
    writer.trailingBits()
    return try H264.SliceHeader(bytes: writer.bytes, sets)
  }

  @Test(arguments: [nil, true, false] as [Bool?]) func countsAscendToThoseOfTheCopiedPicture(
    isTopFieldFirst: Bool?
  ) throws {
    var random = SeededGenerator(state: 49)
    let deltaBottom: Int32 = isTopFieldFirst.map { $0 ? 1 : -1 } ?? 0
    var found = 0
    for _ in 0..<4000 {
      let log2Maximum = UInt8.random(in: 4...7, using: &random)
      let references = UInt8.random(in: 1...16, using: &random)
      let count = random.oneIn(3) ? 1 : 1 + random.below(40)
      let sps = try Self.sps(log2Maximum, references: references, isFrameOnly: isTopFieldFirst == nil)
      let frameNumber = UInt32(random.below(16))
      let copied = try Self.slice(
        .init(
          frameNumber: frameNumber,
          pictureOrder: .leastSignificantBits(UInt32(random.below(1 << Int(log2Maximum))), deltaBottom: deltaBottom)),
        sps)
      let lead = H264.PictureLead(count: count, to: copied, under: sps, isTopFieldFirst: isTopFieldFirst)
      let gap = Int((frameNumber &- UInt32(count)) & 15)
      let last = 2 * min(gap, Int(references)) + 2
      let maximum = 1 << Int(log2Maximum)
      // The sums of all steps. The first one is that of the IDR picture's later field, which must be the bottom field.
      let least = 2 * (count - 1) + last
      let most = maximum / 2 * count + (isTopFieldFirst == true ? 0 : maximum / 2 - (isTopFieldFirst == false ? 1 : 0))
      let goal = Int(copied.pictureOrderCountLSB) + min(0, Int(deltaBottom))
      let nearest = least + ((goal - least) % maximum + maximum) % maximum
      #expect((lead != nil) == (gap < 15 && last <= maximum / 2 && nearest <= most))
      guard let lead else { continue }
      found += 1
      #expect(lead.numbers.map(\.frameNumber) == (0..<UInt32(count)).map { $0 & 15 })
      var counter = H264.PictureOrderCounter()
      var orders: [Int32] = []
      for (place, numbers) in lead.numbers.enumerated() {
        orders.append(counter.next(try Self.slice(numbers, sps, isIDR: place == 0), sps: sps).picture)
      }
      let order = counter.next(copied, sps: sps).picture
      #expect(orders.first == 0 && zip(orders, orders.dropFirst()).allSatisfy { $0 < $1 })
      #expect(order >= (orders.last ?? 0) + Int32(last))
    }
    #expect(found > 1000)
  }

  @Test func picturesInDecodingOrderNeedNoCounts() throws {
    var sps = try Self.sps(4, references: 1, isFrameOnly: true)
    sps.pictureOrderCountType = .decodingOrder
    let copied = try Self.slice(.init(frameNumber: 9, pictureOrder: .decodingOrder), sps)
    let lead = H264.PictureLead(count: 3, to: copied, under: sps, isTopFieldFirst: nil)
    #expect(lead?.numbers.map(\.frameNumber) == [0, 1, 2])
    #expect(lead?.numbers.allSatisfy { $0.pictureOrder == .decodingOrder } == true)
    // Consecutive references have different numbers, and there must be a picture.
    for count in [0, 10] {
      #expect(H264.PictureLead(count: count, to: copied, under: sps, isTopFieldFirst: nil) == nil)
    }
  }
}
