// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

// A readable record is the same after writing and reading.
fuzz { bytes in
  guard let record = try? H264.DecoderConfigurationRecord(bytes) else { return }
  guard let written = try? record.bytes() else { fatalError("avcC: cannot be written") }
  require((try? H264.DecoderConfigurationRecord(written.span)) == record, "avcC: not the same after writing")
  require((try? record.withoutParameterSets.bytes())?.count == 7, "avcC: not empty without its parameter sets")
  _ = try? FormatDescription(decoderConfigurationRecord: record)
}
