// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

// Whatever can be read can be written, and reads the same again.
fuzz { bytes in
  if var sps = try? H264.SequenceParameterSet(nalUnit: bytes) {
    let written = sps.nalUnit()
    sps.hasProperEnd = true
    require((try? H264.SequenceParameterSet(nalUnit: written.span)) == sps, "SPS: not the same after writing")
    let size = sps.codedSize
    let crop = sps.cropRectangle
    require(
      crop.width > 0 && crop.left >= 0 && crop.left + crop.width <= size.width, "SPS: cropping out of the picture")
    require(
      crop.height > 0 && crop.top >= 0 && crop.top + crop.height <= size.height, "SPS: cropping out of the picture")
    _ = (sps.level.name, sps.profile.name, sps.profile.compatibleProfiles, sps.frameRate, sps.maximumReorderFrames)
    require(1...16 ~= sps.decodedPictureBufferFrames, "SPS: decoded picture buffer of no size or too many frames")
  }
  if let subset = try? H264.SubsetSequenceParameterSet(nalUnit: bytes) {
    require(subset.viewIDs.count <= 1024, "subset SPS: too many views")
  }
  _ = try? H264.SequenceParameterSetExtension(nalUnit: bytes)
}
