// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

// A readable record is the same after writing and reading.
fuzz { bytes in
  guard let record = try? H265.DecoderConfigurationRecord(bytes) else { return }
  guard let written = try? record.bytes() else { fatalError("hvcC: cannot be written") }
  require((try? H265.DecoderConfigurationRecord(written.span)) == record, "hvcC: not the same after writing")
  require((try? record.withoutParameterSets.bytes())?.count == 23, "hvcC: not empty without its parameter sets")
  guard let description = try? FormatDescription(decoderConfigurationRecord: record) else { return }
  require(description.codedSize.width > 0 && description.codedSize.height > 0, "format: a picture of no size")
  guard let made = try? description.h265DecoderConfigurationRecord() else { fatalError("hvcC: cannot be made") }
  guard let again = try? FormatDescription(decoderConfigurationRecord: made) else {
    fatalError("format: hvcC of readable sets cannot be read")
  }
  require(again.describesSameVideo(as: description), "format: not the same after hvcC")
}
