// SPDX-License-Identifier: MPL-2.0
import H26x

/// Lets the SPS of H.264 allow gaps in `frame_num` (7.4.2.1.1), in descriptions and access units of a copy. Nothing else
/// changes. An SPS that cannot be read stays as it is.
struct FrameNumberGaps {
  private let hasStartCodes: Bool
  /// `nil` for other codecs.
  private var packaging: NALPackaging?

  /// - Parameter hasStartCodes: whether access units have start codes, not length prefixes.
  init(hasStartCodes: Bool) { self.hasStartCodes = hasStartCodes }

  /// Changes the description of the access units that follow.
  mutating func allow(in format: inout MediaOutput.VideoFormat) {
    packaging = format.codec == .h264 ? .annexB : nil
    guard format.codec == .h264, !format.configuration.isEmpty else { return }
    do throws(BitstreamError) {
      var record = try H264.DecoderConfigurationRecord(format.configuration.span)
      if !hasStartCodes { packaging = .lengthPrefixed(record.nalLengthSize) }
      record.sequenceParameterSets = record.sequenceParameterSets.map { Self.allowing($0.span) ?? $0 }
      format.configuration = try record.bytes()
    } catch {
      // The parameter sets are in-band.
    }
  }

  /// Changes the parameter sets of an access unit.
  func allow(in accessUnit: inout MediaOutput.AccessUnit) {
    guard let packaging else { return }
    let bytes = accessUnit.bytes
    var (output, hasChanged): ([UInt8], Bool) = ([], false)
    do throws(BitstreamError) {
      for range in packaging.nalUnits(of: bytes.span) {
        let nalUnit = bytes.span.extracting(range)
        if let sps = Self.allowing(nalUnit) {
          hasChanged = true
          try packaging.append(sps.span, to: &output)
        } else {
          try packaging.append(nalUnit, to: &output)
        }
      }
      if hasChanged { accessUnit.bytes = output }
    } catch {
      // Its SPS is too long for the length prefixes, so it stays as it is.
    }
  }

  /// The SPS with the permission; `nil` if it has it, and for other NAL units.
  private static func allowing(_ nalUnit: Span<UInt8>) -> [UInt8]? {
    guard H264.role(of: nalUnit) == .sequenceParameterSet else { return nil }
    do throws(BitstreamError) {
      var sps = try H264.SequenceParameterSet(nalUnit: nalUnit)
      guard !sps.allowsFrameNumberGaps else { return nil }
      sps.allowsFrameNumberGaps = true
      return sps.nalUnit()
    } catch { return nil }
  }
}
