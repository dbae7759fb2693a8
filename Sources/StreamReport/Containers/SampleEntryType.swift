// SPDX-License-Identifier: MPL-2.0
package import H26x

extension FourCharacterCode {
  /// The codec of this sample entry type (ISO/IEC 14496-15); nil for neither H.264 nor H.265.
  package var videoCodec: FormatDescription.Codec? {
    switch self {
    case "avc1", "avc2", "avc3", "avc4", "dvav", "dva1": .h264
    case "hvc1", "hvc2", "hev1", "hev2", "dvh1", "dvhe": .h265
    default: nil
    }
  }

  /// Whether parameter sets of this sample entry type may be in samples too.
  package var allowsInBandParameterSets: Bool {
    switch self {
    case "avc3", "avc4", "dvav", "hev1", "hev2", "dvhe": true
    default: false
    }
  }
}

extension MP4.Track {
  /// The first sample description of H.264 or H.265, and its index; nil if there is none.
  package var video: (index: Int, description: MP4.VisualSampleDescription, codec: FormatDescription.Codec)? {
    for (index, description) in descriptions.enumerated() {
      if let codec = description.coding.videoCodec { return (index, description, codec) }
    }
    return nil
  }
}
