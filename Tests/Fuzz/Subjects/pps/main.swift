// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

// A readable PPS is the same after writing and reading.
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
