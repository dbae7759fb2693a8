// SPDX-License-Identifier: MPL-2.0

import Foundation
import H26x
import TestSupport
import Testing

@Suite struct DolbyVisionConfigurationTests {
  /// The record of a telephone's video: profile 8.4, level 2.
  private static let sample: [UInt8] = [1, 0, 0x10, 0x15, 0x40] + [UInt8](repeating: 0, count: 19)

  @Test func readsARecord() throws {
    let record = try DolbyVision.Configuration(Self.sample.span)
    #expect(record.majorVersion == 1 && record.minorVersion == 0 && record.profile == 8 && record.level == 2)
    #expect(record.hasRPU && !record.hasEnhancementLayer && record.hasBaseLayer && record.compatibilityID == 4)
    #expect(record.bytes == Self.sample && "\(record.boxType)" == "dvvC" && !record.isIncompatible)
    #expect(record == DolbyVision.Configuration(profile: 8, level: 2, compatibilityID: 4))
  }

  @Test func recordsComeBackWithReservedBits() throws {
    var generator = SeededGenerator(state: 50)
    for round in 0..<500 {
      let bytes = (0..<24 + round % 3).map { _ in UInt8.random(in: 0...255, using: &generator) }
      #expect(try DolbyVision.Configuration(bytes.span).bytes == bytes)
    }
    for count in 0..<24 {
      let error = failure { () throws(BitstreamError) in
        _ = try DolbyVision.Configuration(Self.sample.span.extracting(0..<count))
      }
      #expect(error?.reason == .truncated)
    }
  }

  @Test func changedFieldsKeepTheOthers() throws {
    let bytes: [UInt8] = [2, 7, 0x0E, 0x37, 0x6F] + [UInt8](1...19)
    var record = try DolbyVision.Configuration(bytes.span)
    #expect(record.profile == 7 && record.level == 6 && record.hasEnhancementLayer && record.compatibilityID == 6)
    (record.profile, record.hasEnhancementLayer, record.compatibilityID) = (8, false, 1)
    #expect(record.bytes == [2, 7, 0x10, 0x35, 0x1F] + [UInt8](1...19))
  }

  @Test(arguments: [
    (1280, 720, 24, 1), (1280, 720, 30, 2), (1920, 1080, 24, 3), (1920, 400, 24, 3), (1920, 1080, 30, 4),
    (1920, 1080, 60, 5), (2560, 1440, 30, 5), (3840, 2160, 24, 6), (3840, 2160, 30, 7), (3840, 2160, 48, 8),
    (3840, 2160, 60, 9), (3840, 2160, 120, 10), (7680, 4320, 30, 11), (7680, 4320, 60, 12), (7680, 4320, 120, 13),
    (7680, 4320, 240, 13), (65_536, 65_536, UInt32(Int32.max), 13), (0, 0, 1, 1),
  ])
  func levelsFollowPixelsASecond(width: Int, height: Int, rate: UInt32, level: UInt8) throws {
    let rate = try #require(Ratio(rate, 1))
    #expect(DolbyVision.Configuration.level(width: width, height: height, rate: rate) == level)
  }

  @Test func compatibilityFollowsProfileAndColour() throws {
    let pq = ColourDescription(primaries: 9, transfer: 16, matrix: 9)
    let hlg = ColourDescription(primaries: 9, transfer: 18, matrix: 9)
    let sdr = ColourDescription(primaries: 1, transfer: 1, matrix: 1)
    let cases: [(UInt8, ColourDescription?, UInt8)] = [
      (5, nil, 0), (5, pq, 0), (7, pq, 6), (4, sdr, 2), (9, sdr, 2), (8, pq, 1), (8, hlg, 4), (8, sdr, 2), (8, nil, 2),
      (8, ColourDescription(primaries: 1, transfer: 16, matrix: 1), 2), (20, pq, 0), (20, hlg, 4), (20, nil, 0),
    ]
    for (profile, colour, expected) in cases {
      #expect(DolbyVision.Configuration.compatibilityID(profile: profile, colour: colour) == expected)
    }
    let rate = try #require(Ratio(24_000, 1001))
    let record = DolbyVision.Configuration(
      profile: 7, hasEnhancementLayer: true, colour: pq, width: 3840, height: 2160, rate: rate)
    #expect(record.bytes == [1, 0, 0x0E, 0x37, 0x60] + [UInt8](repeating: 0, count: 19))
    #expect("\(record.boxType)" == "dvcC")
  }
}
