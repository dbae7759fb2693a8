// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The caps of a compressed stream: how it is packaged, and which other fields they have.
///
/// Reading never fails. ``problems`` lists the faults; each element decides which of them it tolerates, and reports
/// the others in its own words.
struct CompressedCaps<Codec: ElementCodecSyntax>: Sendable, Equatable {
  /// Something wrong with the caps.
  enum Problem: Error, Sendable, Equatable {
    /// Another codec's media type, with its name.
    case otherMediaType(String)
    /// A `stream-format` that the codec does not have.
    case unknownStreamFormat(String)
    /// An `alignment` that is neither "au" nor "nal".
    case unknownAlignment(String)
    /// Length-prefixed, and no `codec_data`.
    case missingCodecData
    /// `codec_data` that cannot be read, with its size in bytes. Without an error it is no buffer, or cannot be mapped.
    case unreadableCodecData(byteCount: Int, BitstreamError?)
    /// A byte stream with `codec_data`, which is not read.
    case unexpectedCodecData
  }

  /// Optional fields, which take precedence over the stream's own parameters.
  struct Fields: OptionSet, Sendable, Hashable {
    let rawValue: UInt16
    static var colorimetry: Self { Self(rawValue: 1) }
    static var chromaSite: Self { Self(rawValue: 2) }
    static var pixelAspectRatio: Self { Self(rawValue: 4) }
    static var interlaceMode: Self { Self(rawValue: 8) }
    static var multiviewMode: Self { Self(rawValue: 16) }
    static var masteringDisplay: Self { Self(rawValue: 32) }
    static var contentLight: Self { Self(rawValue: 64) }

    fileprivate static var names: [(String, Self)] {
      [
        ("colorimetry", .colorimetry), ("chroma-site", .chromaSite), ("pixel-aspect-ratio", .pixelAspectRatio),
        ("interlace-mode", .interlaceMode), ("multiview-mode", .multiviewMode),
        ("mastering-display-info", .masteringDisplay), ("content-light-level", .contentLight),
      ]
    }
  }

  /// The packing of NAL units and the place of parameter sets. If `stream-format` is missing or unknown, the presence
  /// of `codec_data` distinguishes a length-prefixed stream from a byte stream.
  let streamFormat: StreamFormat<Codec>
  /// The content of a buffer; nil if the caps do not specify it.
  let alignment: StreamAlignment?
  /// `codec_data` as it is; empty when there is none, or none that can be mapped.
  let codecData: [UInt8]
  /// The contents of ``codecData``; nil when there is none, when it cannot be read, and for a byte stream.
  let record: Codec.ConfigurationRecord?
  /// `framerate`, when it is above 0.
  let frameRate: Fraction?
  /// The optional fields that are present.
  let fields: Fields
  /// The problems, in the order of the cases of ``Problem``; empty for correct caps.
  let problems: [Problem]

  /// Reads the first structure of caps.
  init(_ caps: borrowing Caps) {
    let view = caps.first
    var problems: [Problem] = []
    if view.name != Codec.mediaType { problems.append(.otherMediaType(view.name)) }

    let hasCodecData = view.has("codec_data")
    let name = view.string("stream-format")
    let named = name.flatMap(StreamFormat<Codec>.init)
    if let name, named == nil { problems.append(.unknownStreamFormat(name)) }
    streamFormat = named ?? (hasCodecData ? .outOfBand : .byteStream)

    let alignmentName = view.string("alignment")
    alignment = alignmentName.flatMap(StreamAlignment.init)
    if let alignmentName, alignment == nil { problems.append(.unknownAlignment(alignmentName)) }

    let bytes = hasCodecData ? Self.codecData(view) : nil
    codecData = bytes ?? []
    var record: Codec.ConfigurationRecord?
    switch (streamFormat.isLengthPrefixed, hasCodecData) {
    case (true, true):
      do throws(BitstreamError) {
        record = try bytes.map { (bytes) throws(BitstreamError) in try .init(bytes.span) }
        if record == nil { problems.append(.unreadableCodecData(byteCount: 0, nil)) }
      } catch {
        problems.append(.unreadableCodecData(byteCount: codecData.count, error))
      }
    case (true, false): problems.append(.missingCodecData)
    case (false, true): problems.append(.unexpectedCodecData)
    case (false, false): break
    }
    self.record = record

    frameRate = view.fraction("framerate").flatMap { $0.numerator > 0 && $0.denominator > 0 ? $0 : nil }
    var fields: Fields = []
    for (name, field) in Fields.names where view.has(name) { fields.insert(field) }
    self.fields = fields
    self.problems = problems
  }

  /// The packing of NAL units. Without a configuration record, length prefixes are taken to be 4 bytes.
  var packaging: NALPackaging {
    streamFormat.isLengthPrefixed ? .lengthPrefixed(record?.nalLengthSize ?? .four) : .annexB
  }
}

extension Span<UInt8> {
  /// The bytes as an array.
  func copied() -> [UInt8] {
    [UInt8](capacity: count) { output in
      for index in indices { output.append(self[index]) }
    }
  }
}

extension CompressedCaps {
  /// The bytes of `codec_data`; nil if there is none, or if it cannot be mapped.
  static func codecData(_ view: StructureView) -> [UInt8]? {
    guard let buffer = view.buffer("codec_data") else { return nil }
    do throws(FlowError) {
      let map = try buffer.map()
      return map.bytes.copied()
    } catch {
      return nil
    }
  }
}
