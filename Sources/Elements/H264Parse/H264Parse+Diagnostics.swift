// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension H264Parse {
  /// Tells the application that the input has ended and there was no picture in it.
  func reportMissingPictures() {
    guard pictureCount == 0, !hasReportedMissingPictures else { return }
    hasReportedMissingPictures = true
    let found =
      if statistics.nalUnits[7] == 0 && statistics.nalUnits[8] == 0 && statistics.errors.missingParameterSets == 0 {
        "no H.264 NAL unit that could be used"
      } else if statistics.errors.missingParameterSets > 0 {
        "slices without the parameter sets that they need"
      } else {
        "parameter sets without slices"
      }
    post(
      ElementError(
        .stream(.wrongType), "There is no H.264 video in this stream: no picture found in \(bytesSeen) bytes.",
        debug: "found \(found), expected an SPS, a PPS and coded slices behind start codes or lengths"))
  }

  /// One line about a changed parameter set.
  func describe(
    _ nalUnit: Span<UInt8>, _ type: H264.NALUnitType, _ change: H264.ParameterSets.Change
  ) -> String {
    "\(change) \(type.name), \(nalUnit.count) bytes"
  }

  /// One line about a NAL unit.
  func logNALUnit(_ nalUnit: Span<UInt8>, _ type: H264.NALUnitType) {
    var line = "\(type.name), \(nalUnit.count) bytes"
    if type.hasSliceHeader, let slice = detectedSlice {
      line += ", frame_num \(slice.frameNumber), POC LSB \(slice.pictureOrderCountLSB), \(slice.sliceType)"
      line += ", first macroblock \(slice.firstMacroblock)"
      if slice.isField { line += slice.isBottomField ? ", bottom field" : ", top field" }
    }
    Self.log(.log, self, line)
  }

  /// The tag `video-codec`, as GStreamer's own description of caps has it.
  static func codecDescription(profile: String?) -> String {
    guard let profile else { return "H.264" }
    let words = profile.split(separator: "-").map { word in
      word.prefix(1).uppercased() + word.dropFirst()
    }
    return "H.264 (\(words.joined(separator: " ")) Profile)"
  }
}
