// SPDX-License-Identifier: MPL-2.0

import H26x
import Testing

/// H.264 table E-1, H.265 table E.1.
@Suite struct SampleAspectRatioTests {
  private static let ratios: [(UInt32, UInt32)] = [
    (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11), (15, 11),
    (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
  ]

  @Test(arguments: 0...255 as ClosedRange<UInt8>) func everyIndicationGivesItsRatio(_ idc: UInt8) {
    var (avc, hevc) = (H264.VUI(), H265.VUIParameters())
    avc.aspectRatioIDC = idc
    hevc.aspectRatioIDC = idc
    let expected: Ratio? = 1...16 ~= idc ? Ratio(Self.ratios[Int(idc) - 1].0, Self.ratios[Int(idc) - 1].1) : nil
    #expect(avc.sampleAspectRatio == expected && hevc.sampleAspectRatio == expected)
  }

  @Test(arguments: [(1, 1), (65535, 1), (0, 1), (1, 0), (0, 0)] as [(UInt16, UInt16)])
  func extendedRatiosAreReadFromTheirTerms(_ width: UInt16, _ height: UInt16) {
    var vui = H264.VUI()
    vui.aspectRatioIDC = 255
    vui.sampleAspectRatioWidth = width
    vui.sampleAspectRatioHeight = height
    #expect(vui.sampleAspectRatio == (width * height == 0 ? nil : Ratio(UInt32(width), UInt32(height))))
  }

  /// One term without the other is no ratio.
  @Test func oneTermAloneGivesNoRatio() {
    var (avc, hevc) = (H264.VUI(), H265.VUIParameters())
    (avc.aspectRatioIDC, hevc.aspectRatioIDC) = (255, 255)
    (avc.sampleAspectRatioWidth, hevc.sampleAspectRatioWidth) = (4, 4)
    #expect(avc.sampleAspectRatio == nil && hevc.sampleAspectRatio == nil)
    (avc, hevc) = (H264.VUI(), H265.VUIParameters())
    (avc.aspectRatioIDC, hevc.aspectRatioIDC) = (255, 255)
    (avc.sampleAspectRatioHeight, hevc.sampleAspectRatioHeight) = (4, 4)
    #expect(avc.sampleAspectRatio == nil && hevc.sampleAspectRatio == nil)
  }

  @Test func hasNoAspectRatioByDefault() {
    #expect(H264.VUI().sampleAspectRatio == nil && H265.VUIParameters().sampleAspectRatio == nil)
  }
}
