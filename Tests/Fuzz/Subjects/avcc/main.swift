// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

// A record that can be read can be written, and reads the same again.
fuzz { bytes in
  guard let record = try? H264.DecoderConfigurationRecord(bytes) else { return }
  guard let written = try? record.bytes() else { fatalError("avcC: cannot be written") }
  require((try? H264.DecoderConfigurationRecord(written.span)) == record, "avcC: not the same after writing")
  require((try? record.withoutParameterSets.bytes())?.count == 7, "avcC: not empty without its parameter sets")
  _ = try? FormatDescription(decoderConfigurationRecord: record)
}
