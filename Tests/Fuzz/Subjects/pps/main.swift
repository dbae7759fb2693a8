// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

// Whatever can be read can be written, and reads the same again.
fuzz { bytes in
  for format in [ChromaFormat.yuv420, .yuv444] {
    guard var pps = try? H264.PictureParameterSet(nalUnit: bytes, chromaFormat: format) else { continue }
    let written = pps.nalUnit()
    pps.hasProperEnd = true
    require(
      (try? H264.PictureParameterSet(nalUnit: written.span, chromaFormat: format)) == pps,
      "PPS: not the same after writing")
  }
}
