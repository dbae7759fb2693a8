// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The packagings to choose from in negotiation. All fields but the packaging's own are kept, in both directions.
///
/// Independent of the stream: caps queries come from any thread at any time.
enum RepackNegotiation<Codec: ElementCodecSyntax> {
  private typealias Packaging = (format: StreamFormat<Codec>, alignments: [String])

  private static var inputPackagings: [Packaging] {
    [(.byteStream, ["au", "nal"]), (.outOfBand, ["au", "nal"]), (.inBand, ["au", "nal"])]
  }
  private static var outputPackagings: [Packaging] {
    [(.outOfBand, ["au"]), (.inBand, ["au"]), (.byteStream, ["au", "nal"])]
  }

  /// The caps that are possible on the other side: first the same packaging, then all others.
  ///
  /// - Parameters:
  ///   - caps: of one side.
  ///   - side: which side that is.
  ///   - otherTemplate: the template of the pad on the other side.
  ///   - edited: fields that edits concern, which do not constrain the other side.
  ///   - filter: caps to intersect the result with, in the filter's order.
  static func possibleCaps(
    _ caps: borrowing Caps, on side: Pad.Direction, otherTemplate: borrowing Caps,
    edited: [EditedCapsField] = [], filter: borrowing Caps?
  ) -> Caps {
    var result = Caps.empty()
    if caps.isAny {
      result = otherTemplate.copy()
    } else {
      for index in 0..<caps.count {
        guard var same = caps.structure(at: index), same.first.name == Codec.mediaType else { continue }
        same.remove("codec_data")
        for field in edited { same.remove(field.rawValue) }
        result.merge(same)
      }
      for index in 0..<caps.count {
        guard var other = caps.structure(at: index), other.first.name == Codec.mediaType else { continue }
        other.remove("codec_data")
        for field in edited { other.remove(field.rawValue) }
        for (format, alignments) in side == .sink ? outputPackagings : inputPackagings {
          other.set("stream-format", .string(format.rawValue))
          other.set("alignment", .strings(alignments))
          result.merge(other.copy())
        }
      }
    }
    switch filter {
    case .some(let filter): return filter.intersection(result)
    case .none: return result
    }
  }

  /// The output that was chosen.
  struct Choice {
    /// The structure of the possible caps that allows it.
    let index: Int
    let streamFormat: StreamFormat<Codec>
    let alignment: StreamAlignment
  }

  /// Chooses the output: the input's packaging when it may stay, else what downstream named first.
  static func choice(for input: RepackFormat<Codec>, from possible: borrowing Caps) -> Choice {
    let same = (0..<possible.count).first { possible[$0].allows("stream-format", input.streamFormat.rawValue) }
    let index = same ?? 0
    let named = possible[index].strings("stream-format").first.flatMap(StreamFormat<Codec>.init)
    let streamFormat = same != nil ? input.streamFormat : named ?? .outOfBand
    let keepsNALAlignment =
      streamFormat == .byteStream && input.alignment == .nalUnit && possible[index].allows("alignment", "nal")
    let alignment: StreamAlignment =
      keepsNALAlignment || !possible[index].allows("alignment", "au") ? .nalUnit : .accessUnit
    return Choice(index: index, streamFormat: streamFormat, alignment: alignment)
  }
}

extension StructureView {
  /// Whether a field may have this value.
  fileprivate func allows(_ field: String, _ value: String) -> Bool {
    !has(field) || strings(field).contains(value)
  }
}
