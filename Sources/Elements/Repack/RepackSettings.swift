// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The properties of the repackagers.
struct RepackSettings: Sendable, Equatable {
  var nalLengthSize = LengthSize.four
  var parameterSets = ParameterSetInsertion.automatic
  var insertsDelimiter = false
  var drop: Drop = []
  /// A CRA picture after a cut becomes a BLA picture.
  var marksBrokenLinks = false
  var edit = RepackEdit()
  /// Closed captions of buffers are written into the stream.
  var insertsCaptions = false
  var captionOrder = CaptionMetaOrder.decode
  var removesCaptionMetas = false

  /// Size of length prefixes in bytes.
  enum LengthSize: Int32, PropertyEnumeration {
    case one = 1
    case two = 2
    case four = 4

    static let typeName: StaticString = "GstSwiftRepackNALLengthSize"
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

  /// When parameter sets are inserted.
  enum ParameterSetInsertion: Int32, PropertyEnumeration {
    case automatic, never, keyframes, changes

    static let typeName: StaticString = "GstSwiftRepackParameterSetInsertion"
    var nick: PropertyNick {
      switch self {
      case .automatic: PropertyNick("auto", "As keyframes if the input has them out of band, otherwise as never")
      case .never: PropertyNick("never", "Never")
      case .keyframes:
        PropertyNick("keyframes", "Before each random access point that lacks them, and when they change")
      case .changes: PropertyNick("changes", "At the start and when they change")
      }
    }
  }

  /// The order in which upstream has attached caption metas to buffers.
  enum CaptionMetaOrder: Int32, PropertyEnumeration {
    case decode, display

    static let typeName: StaticString = "GstSwiftRepackCaptionMetaOrder"
    var nick: PropertyNick {
      switch self {
      case .decode: PropertyNick("decode", "Each buffer has the captions of its own picture")
      case .display:
        PropertyNick(
          "display", "The first buffer has the captions of the picture that is shown first, and so on; adds delay")
      }
    }
  }

  /// NAL units to drop.
  struct Drop: PropertyFlags, Hashable {
    let rawValue: UInt32
    static let delimiters = Self(rawValue: 1)
    static let filler = Self(rawValue: 2)
    static let supplementalInformation = Self(rawValue: 4)
    static let endOfSequence = Self(rawValue: 8)
    static let parameterSets = Self(rawValue: 16)

    static let typeName: StaticString = "GstSwiftRepackDrop"
    static var nicks: [(Self, PropertyNick)] {
      [
        (.delimiters, PropertyNick("aud", "Access unit delimiters")),
        (.filler, PropertyNick("filler", "Filler data")),
        (.supplementalInformation, PropertyNick("sei", "Supplemental enhancement information")),
        (.endOfSequence, PropertyNick("end-of-sequence", "End of sequence and end of stream")),
        (.parameterSets, PropertyNick("parameter-sets", "In-band parameter sets")),
      ]
    }

    /// The NAL unit types to drop.
    func types<Codec: ElementCodecSyntax>(of codec: Codec.Type) -> NALUnitTypeSet {
      guard !isEmpty else { return NALUnitTypeSet() }
      let type = Codec.NALUnitType.self
      var types = NALUnitTypeSet()
      if contains(.delimiters) { types.insert(type.accessUnitDelimiter.rawValue) }
      if contains(.filler) { types.insert(type.fillerData.rawValue) }
      if contains(.supplementalInformation) {
        types = types.union(NALUnitTypeSet((0..<64).lazy.filter { type.init(rawValue: $0).isSEI }))
      }
      if contains(.endOfSequence) {
        types.insert(type.endOfSequence.rawValue)
        types.insert(type.endOfStream.rawValue)
      }
      if contains(.parameterSets) {
        types = types.union(NALUnitTypeSet((0..<64).lazy.filter { type.init(rawValue: $0).isParameterSet }))
      }
      return types
    }
  }

  static var properties: [Setting<Self>] {
    [
      .enumeration(
        "nal-length-size", \.nalLengthSize,
        "Size of the length before each NAL unit in length-prefixed output, in bytes"),
      .enumeration(
        "insert-parameter-sets", \.parameterSets, "When to insert parameter sets in-band"),
      .boolean("insert-aud", \.insertsDelimiter, "Put an access unit delimiter before each access unit that lacks one"),
      .flags("drop", \.drop, "NAL units to drop"),
      .boolean(
        "insert-captions", \.insertsCaptions,
        "Write closed captions of buffers (GstVideoCaptionMeta) as SEI into access units that have none"),
      .enumeration(
        "caption-meta-order", \.captionOrder,
        "Order in which upstream attached caption metas to buffers; takes effect with the next session"
      ).mutableInReady(),
      .boolean("remove-caption-meta", \.removesCaptionMetas, "Remove caption metas from output buffers"),
      .text(
        "edit", \.edit, \.text, read: RepackEdit.read,
        "Header changes, FIELD=VALUE joined by commas, named as the options of h26x edit: colour=bt709,range=limited,level=auto"
      ),
    ]
  }
}

/// The value of the property `edit`.
struct RepackEdit: Sendable, Equatable {
  /// As it was set.
  private(set) var text = ""
  private(set) var list = StreamEditList()

  /// The list follows from the text.
  static func == (a: RepackEdit, b: RepackEdit) -> Bool { a.text == b.text }

  /// Reads the property's string.
  static func read(_ text: String) -> Result<RepackEdit, StreamEditTextError> {
    do throws(StreamEditTextError) {
      return .success(RepackEdit(text: text, list: try StreamEditList(text)))
    } catch {
      return .failure(error)
    }
  }

  /// The caps fields that depend on the edits.
  var capsFields: [EditedCapsField] { EditedCapsField.list(list) }
}

extension StreamEditList {
  /// The edits of parameter sets, with an edit in the place of `latency`, and without `level=auto`.
  func headerEdits(_ reordering: StreamEdit?) -> [StreamEdit] {
    edits(at: nil, reordering: reordering).filter { !$0.keepsParameterSets }
  }

  /// The edits of SEI alone.
  var messageEdits: [StreamEdit] { edits.filter(\.keepsParameterSets) }
}
