// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension H264Parse {
  /// Tells the application that the input has ended and there was no picture in it.
  func reportMissingPictures() {
    guard pictureCount == 0, !hasReportedMissingPictures else { return }
    hasReportedMissingPictures = true
    letStateChangeFinish { sourcePad.isFlushing }
    post(missingPictures)
  }

  /// The base class shows no data to us when there is none: then that is told as data flow begins.
  func reportEmptyInput() {
    guard isInputEmpty else { return }
    sourcePad.before(.streamStart) { [weak self] in
      if let self, isInputEmpty { reportMissingPictures() }
    }
  }

  private var isInputEmpty: Bool { sinkPad.isPulling && sinkPad.peerDurationInBytes == 0 }

  /// The input ends with this finding, and no event tells of it, because the element pulls. What goes out is to arrive
  /// first.
  func reportMissingPicturesAtTheEnd(_ finding: H264.AccessUnitScanner.Finding) {
    guard case .accessUnit = finding else { return reportMissingPictures() }
    guard pictureCount == 0, !awaitsEndOfStream else { return }
    awaitsEndOfStream = true
    sourcePad.before(.endOfStream) { [weak self] in
      self?.awaitsEndOfStream = false
      self?.reportMissingPictures()
    }
  }

  /// What is wrong with a stream that has no pictures.
  private var missingPictures: ElementError {
    let found =
      if scanner.nalUnitCounts[7] == 0 && scanner.nalUnitCounts[8] == 0 && scanner.errors.missingParameterSets == 0 {
        "no H.264 NAL unit that could be used"
      } else if scanner.errors.missingParameterSets > 0 {
        "slices without the parameter sets that they need"
      } else {
        "parameter sets without slices"
      }
    return ElementError(
      .stream(.wrongType), "There is no H.264 video in this stream: no picture found in \(bytesSeen) bytes.",
      debug: "found \(found), expected an SPS, a PPS and coded slices behind start codes or lengths")
  }

  /// One line for each NAL unit of the unit in hand.
  func logUnit(_ bytes: Span<UInt8>) {
    switch scanner.packaging {
    case .annexB:
      var units = AnnexB.NALUnits(bytes)
      while let place = units.next() { logNALUnit(bytes.extracting(place.range)) }
    case .lengthPrefixed(let size):
      var units = LengthPrefixed.NALUnits(bytes, lengthSize: size)
      do throws(BitstreamError) {
        while let range = try units.next() { logNALUnit(bytes.extracting(range)) }
      } catch {}  // The scanner told of it.
    }
  }

  private func logNALUnit(_ nalUnit: Span<UInt8>) {
    let type = H264.NALUnitType(rawValue: nalUnit[0])
    var line = "\(type.name), \(nalUnit.count) bytes"
    do throws(BitstreamError) {
      if type.hasSliceHeader {
        let slice = try H264.SliceHeader(
          nalUnit: nalUnit, parameterSets: scanner.parameterSets, depth: .referenceMarking)
        line += ", frame_num \(slice.frameNumber), \(slice.sliceType)"
        if let count = orderLog.count(slice, scanner.parameterSets) { line += ", POC \(count)" }
        line += ", first macroblock \(slice.firstMacroblock)"
        if slice.isField { line += slice.isBottomField ? ", bottom field" : ", top field" }
      }
    } catch {
      line += ", \(error)"
    }
    Self.log(.log, self, line)
  }

  /// The tag `video-codec`, as GStreamer's own description of caps has it.
  static func codecDescription(profile: String?) -> String {
    guard let profile else { return "H.264" }
    var text = "H.264 ("
    var beginsWord = true
    // By scalars: what strings do otherwise looks up half the Swift runtime at first use.
    for scalar in profile.unicodeScalars {
      if scalar == "-" {
        text.unicodeScalars.append(" ")
      } else if beginsWord, ("a"..."z").contains(scalar), let capital = Unicode.Scalar(scalar.value - 32) {
        text.unicodeScalars.append(capital)
      } else {
        text.unicodeScalars.append(scalar)
      }
      beginsWord = scalar == "-"
    }
    return text + " Profile)"
  }
}
