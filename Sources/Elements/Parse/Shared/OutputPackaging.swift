// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Format and alignment of the output.
struct OutputPackaging<Codec: ElementCodecSyntax>: Sendable, Equatable {
  var format: StreamFormat<Codec>
  var alignment: StreamAlignment

  /// Sets `stream-format` and `alignment`.
  func setFields(of caps: inout Caps) {
    caps.set("stream-format", .string(format.rawValue))
    caps.set("alignment", .string(alignment.rawValue))
  }

  /// Whether downstream now expects parameter sets in the stream, which had none so far.
  func looksForSets(after before: Self?) -> Bool { before?.format == .outOfBand && format != .outOfBand }

  /// Caps of this packaging, without further fields.
  var caps: Caps {
    var caps = Caps(mediaType: Codec.mediaType)
    caps.set("parsed", .boolean(true))
    setFields(of: &caps)
    return caps
  }

  /// Chooses format and alignment by the input and what downstream allows.
  ///
  /// - Parameters:
  ///   - input: the input's format.
  ///   - inputAlignment: nil when the input is not aligned to anything.
  ///   - allowed: what downstream takes; nil when nothing is linked.
  init(from input: StreamFormat<Codec>, _ inputAlignment: StreamAlignment?, allowed: borrowing Caps?) {
    self.init(format: input, alignment: inputAlignment ?? .accessUnit)
    switch allowed {
    case .some(let allowed) where !allowed.isEmpty:
      let wish = allowed.copy().truncated()
      // The packaging that needs the least work comes first.
      let kept = [inputAlignment ?? .accessUnit, .accessUnit, .nalUnit].first {
        wish.canIntersect(OutputPackaging(format: input, alignment: $0).caps)
      }
      if let kept {
        alignment = kept
      } else {
        let fixed = wish.fixated()
        format = fixed.first.string("stream-format").flatMap(StreamFormat<Codec>.init) ?? input
        alignment = fixed.first.string("alignment").flatMap(StreamAlignment.init) ?? .accessUnit
      }
    default: break
    }
  }

  init(format: StreamFormat<Codec>, alignment: StreamAlignment) {
    self.format = format
    self.alignment = alignment
  }
}
