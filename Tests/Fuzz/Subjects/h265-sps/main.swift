// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

// A readable SPS is the same after writing and reading, and its values are in range.
fuzz { bytes in
  guard var sps = try? H265.SequenceParameterSet(nalUnit: bytes) else { return }
  let written = sps.nalUnit()
  sps.hasProperEnd = true
  require((try? H265.SequenceParameterSet(nalUnit: written.span)) == sps, "SPS: not the same after writing")
  let size = sps.codedSize
  for crop in [sps.cropRectangle, sps.defaultDisplayRectangle ?? sps.cropRectangle] {
    require(
      crop.width > 0 && crop.left >= 0 && crop.left + crop.width <= size.width, "SPS: cropping out of the picture")
    require(
      crop.height > 0 && crop.top >= 0 && crop.top + crop.height <= size.height, "SPS: cropping out of the picture")
  }
  for set in sps.referencePictureSets {
    require(set.count <= H265.ShortTermReferencePictureSet.maximumCount, "SPS: a reference picture set too large")
    require(zip(set.before, set.before.dropFirst()).allSatisfy { $0.delta > $1.delta }, "SPS: pictures out of order")
    require(zip(set.after, set.after.dropFirst()).allSatisfy { $0.delta < $1.delta }, "SPS: pictures out of order")
  }
  require(1...16 ~= sps.decodedPictureBufferPictures, "SPS: decoded picture buffer of no size or too many pictures")
  require(!sps.profileName.isEmpty, "SPS: a profile without a name")
  _ = sps.profile.compatibleProfiles(of: sps.profileName, chromaFormat: sps.chromaFormat)
  _ = (sps.level.name, sps.frameRate, sps.maximumReorderFrames)
  _ = sps.level.maximumDecodedPictures(lumaPictureSize: size.width * size.height)
}
