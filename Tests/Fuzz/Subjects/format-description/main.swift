// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

// The format description of parameter sets is the same after writing and reading avcC.
fuzz { bytes in
  var nalUnits: [[UInt8]] = []
  var units = AnnexB.NALUnits(bytes)
  while let unit = units.next() { nalUnits.append([UInt8](bytes, unit.range)) }
  guard let description = try? FormatDescription(h264ParameterSets: nalUnits) else { return }
  require(description.codedSize.width > 0 && description.codedSize.height > 0, "format: a picture of no size")
  if let rate = description.frameRate { require(rate.numerator > 0 && rate.denominator > 0, "format: bad frame rate") }
  guard let written = try? description.h264DecoderConfigurationRecord().bytes() else { return }
  guard let record = try? H264.DecoderConfigurationRecord(written.span) else { fatalError("avcC: cannot be read") }
  guard let again = try? FormatDescription(decoderConfigurationRecord: record) else {
    fatalError("format: avcC of readable sets cannot be read")
  }
  require(again.describesSameVideo(as: description), "format: not the same after avcC")
}
