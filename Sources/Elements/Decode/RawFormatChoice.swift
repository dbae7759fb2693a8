// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding

/// Chooses among downstream's formats: the decoder's own first, then NV12 and P010, which the session makes itself,
/// then what loses least when converted.
enum RawFormatChoice {
  /// The formats that libavcodec can produce, in the order of the source pad's template.
  private static let native = PixelFormat.allCases.compactMap(\.videoFormat).sorted { rank($0) < rank($1) }

  /// Every format that the source pad offers.
  static let offered: [VideoFormat] = native + VideoFormat.all.filter { !native.contains($0) && !$0.hasPalette }

  /// 8-bit 4:2:0 first: nearly all streams have it.
  private static func rank(_ format: VideoFormat) -> Int {
    format.bitDepth * 100 + (format.name == "I420" ? 0 : format.name == "NV12" ? 1 : format.kind == .yuv ? 2 : 3)
  }

  /// Whether downstream, whose caps these are, lists the formats that it takes.
  static func areListed(in caps: borrowing Caps?) -> Bool {
    switch caps {
    case .none: false
    case .some(let caps): !caps.isAny && (0..<caps.count).allSatisfy { caps[$0].has("format") }
    }
  }

  /// Formats to try, the best first.
  ///
  /// - Parameters:
  ///   - native: the format that libavcodec will produce.
  ///   - preferred: a format that costs even less, and is chosen if downstream lists it.
  ///   - allowed: what both pads allow; `nil` when nothing is linked.
  static func candidates(
    for native: VideoFormat, preferring preferred: VideoFormat? = nil, allowed: borrowing Caps?
  ) -> [VideoFormat] {
    var names: [String] = []
    switch allowed {
    case .none: return [native]
    case .some(let caps):
      if caps.isAny { return [native] }
      for index in 0..<caps.count {
        let structure = caps[index]
        guard structure.has("format") else { return [preferred ?? native] }
        names += structure.strings("format")
      }
    }
    if let preferred, names.contains(preferred.name) { return [preferred] }
    if names.contains(native.name) { return [native] }
    var seen: Set<VideoFormat> = []
    let formats = names.compactMap(VideoFormat.init(name:)).filter { !$0.hasPalette && seen.insert($0).inserted }
    let losses = formats.map { loss(from: native, to: $0) }
    // Downstream's order decides between equal losses.
    return formats.indices.sorted { (losses[$0], $0) < (losses[$1], $1) }.map { formats[$0] }
  }

  /// How much is lost, or wasted, when pictures are converted.
  private static func loss(from native: VideoFormat, to other: VideoFormat) -> Int {
    var loss = 0
    if other.kind == .gray && native.kind != .gray { loss += 1000 }
    if other.kind != native.kind { loss += 200 }
    loss += 40 * max(0, native.bitDepth - other.bitDepth) + 4 * max(0, other.bitDepth - native.bitDepth)
    let (from, to) = (native.chromaShift, other.chromaShift)
    for (had, has) in [(from.horizontal, to.horizontal), (from.vertical, to.vertical)] {
      loss += 100 * max(0, has - had) + 10 * max(0, had - has)
    }
    if other.hasAlpha { loss += 2 }
    if native.name == "I420" && other.name == "NV12" || native.name == "I420_10LE" && other.name == "P010_10LE" {
      loss -= 1
    }
    return loss
  }
}
