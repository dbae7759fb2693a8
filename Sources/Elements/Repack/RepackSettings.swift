// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The properties of `swifth264repack`.
struct RepackSettings: Sendable, Equatable {
  var nalLengthSize = LengthSize.four
  var parameterSets = ParameterSetInsertion.automatic
  var insertsDelimiter = false
  var drop: Drop = []

  /// Bytes of a NAL unit's length.
  enum LengthSize: Int32, PropertyEnumeration {
    case one = 1
    case two = 2
    case four = 4

    static let typeName: StaticString = "GstSwiftH264RepackNALLengthSize"
    var nick: PropertyNick {
      switch self {
      case .one: PropertyNick("1", "One byte: NAL units of up to 255 bytes")
      case .two: PropertyNick("2", "Two bytes: NAL units of up to 65,535 bytes")
      case .four: PropertyNick("4", "Four bytes")
      }
    }

    var size: NALLengthSize {
      switch self {
      case .one: .one
      case .two: .two
      case .four: .four
      }
    }
  }

  /// When parameter sets are put in-band.
  enum ParameterSetInsertion: Int32, PropertyEnumeration {
    case automatic, never, keyframes, changes

    static let typeName: StaticString = "GstSwiftH264RepackParameterSetInsertion"
    var nick: PropertyNick {
      switch self {
      case .automatic: PropertyNick("auto", "As keyframes for avc and avc3 input, as never for byte-stream input")
      case .never: PropertyNick("never", "Never")
      case .keyframes:
        PropertyNick("keyframes", "Before each random access point that lacks them, and when they change")
      case .changes: PropertyNick("changes", "At the start and when they change")
      }
    }
  }

  /// NAL units to leave out.
  struct Drop: PropertyFlags, Hashable {
    let rawValue: UInt32
    static let delimiters = Self(rawValue: 1)
    static let filler = Self(rawValue: 2)
    static let supplementalInformation = Self(rawValue: 4)
    static let endOfSequence = Self(rawValue: 8)
    static let parameterSets = Self(rawValue: 16)

    static let typeName: StaticString = "GstSwiftH264RepackDrop"
    static var nicks: [(Self, PropertyNick)] {
      [
        (.delimiters, PropertyNick("aud", "Access unit delimiters")),
        (.filler, PropertyNick("filler", "Filler data")),
        (.supplementalInformation, PropertyNick("sei", "Supplemental enhancement information")),
        (.endOfSequence, PropertyNick("end-of-sequence", "End of sequence and end of stream")),
        (.parameterSets, PropertyNick("parameter-sets", "In-band parameter sets")),
      ]
    }

    /// The NAL unit types that these are.
    var types: NALUnitTypeSet {
      var types: [H264.NALUnitType] = []
      if contains(.delimiters) { types += [.accessUnitDelimiter] }
      if contains(.filler) { types += [.fillerData] }
      if contains(.supplementalInformation) { types += [.sei] }
      if contains(.endOfSequence) { types += [.endOfSequence, .endOfStream] }
      if contains(.parameterSets) {
        types += [
          .sequenceParameterSet, .pictureParameterSet, .sequenceParameterSetExtension, .subsetSequenceParameterSet,
        ]
      }
      return NALUnitTypeSet(types)
    }
  }

  static var properties: [Setting<Self>] {
    [
      .enumeration("nal-length-size", \.nalLengthSize, "Bytes of a NAL unit's length in avc and avc3 output"),
      .enumeration(
        "insert-parameter-sets", \.parameterSets, "When to put parameter sets into byte-stream and avc3 output"),
      .boolean("insert-aud", \.insertsDelimiter, "Put an access unit delimiter before each access unit that lacks one"),
      .flags("drop", \.drop, "NAL units to leave out"),
    ]
  }
}
