// SPDX-License-Identifier: MPL-2.0

extension H265.Profile {
  /// A profile that constraint flags distinguish from others of its `general_profile_idc` (Tables A.2, A.3, A.5, H.4).
  private struct Row {
    var name: String
    var constraints: Constraints

    init(_ name: String, _ constraints: Constraints) {
      self.name = name
      self.constraints = constraints
    }
  }

  /// The profiles of one `general_profile_idc`, 4 to 11. If several rows fit equally well, the last one is taken.
  private static func rows(_ idc: UInt8) -> [Row] {
    let to8: Constraints = [.maximum12Bit, .maximum10Bit, .maximum8Bit]
    let to10: Constraints = [.maximum12Bit, .maximum10Bit]
    let to12: Constraints = .maximum12Bit
    let grey: Constraints = [.maximum422, .maximum420, .monochrome]
    let to420: Constraints = [.maximum422, .maximum420]
    let to422: Constraints = .maximum422
    let lower = Constraints.lowerBitRate
    let intra = Constraints.intra
    let still: Constraints = [.intra, .onePicture]
    let to14 = Constraints.maximum14Bit
    return switch idc {
    case 4:
      [
        Row("monochrome", to8.union(grey).union(lower)), Row("monochrome-10", to10.union(grey).union(lower)),
        Row("monochrome-12", to12.union(grey).union(lower)), Row("monochrome-16", grey.union(lower)),
        Row("main-12", to12.union(to420).union(lower)), Row("main-422-10", to10.union(to422).union(lower)),
        Row("main-422-12", to12.union(to422).union(lower)), Row("main-444", to8.union(lower)),
        Row("main-444-10", to10.union(lower)), Row("main-444-12", to12.union(lower)),
        Row("main-intra", to8.union(to420).union(intra)), Row("main-10-intra", to10.union(to420).union(intra)),
        Row("main-12-intra", to12.union(to420).union(intra)), Row("main-422-10-intra", to10.union(to422).union(intra)),
        Row("main-422-12-intra", to12.union(to422).union(intra)), Row("main-444-intra", to8.union(intra)),
        Row("main-444-10-intra", to10.union(intra)), Row("main-444-12-intra", to12.union(intra)),
        Row("main-444-16-intra", intra), Row("main-444-still-picture", to8.union(still)),
        Row("main-444-16-still-picture", still),
      ]
    case 5:
      [
        Row("high-throughput-444", to8.union(to14).union(lower)),
        Row("high-throughput-444-10", to10.union(to14).union(lower)), Row("high-throughput-444-14", to14.union(lower)),
        Row("high-throughput-444-16-intra", intra),
      ]
    case 6: [Row("multiview-main", to8.union(to420).union(lower))]
    case 7:
      [
        Row("scalable-main", to8.union(to420).union(lower)), Row("scalable-main-10", to10.union(to420).union(lower)),
      ]
    case 8: [Row("3d-main", to8.union(to420).union(lower))]
    case 9:
      [
        Row("screen-extended-main", to8.union(to14).union(to420).union(lower)),
        Row("screen-extended-main-10", to10.union(to14).union(to420).union(lower)),
        Row("screen-extended-main-444", to8.union(to14).union(lower)),
        Row("screen-extended-main-444-10", to10.union(to14).union(lower)),
        Row("screen-extended-high-throughput-444-14", to14.union(lower)),
      ]
    case 10:
      [
        Row("scalable-monochrome", to8.union(to14).union(grey).union(lower)),
        Row("scalable-monochrome-12", to12.union(to14).union(grey).union(lower)),
        Row("scalable-monochrome-16", grey.union(lower)), Row("scalable-main-444", to8.union(to14).union(lower)),
      ]
    case 11:
      [
        Row("screen-extended-high-throughput-444", to8.union(to14).union(lower)),
        Row("screen-extended-high-throughput-444-10", to10.union(to14).union(lower)),
        Row("screen-extended-high-throughput-444-14", to14.union(lower)),
      ]
    default: []
    }
  }

  /// The name for one `general_profile_idc`: of the rows whose flags the stream has all set, the one that leaves the
  /// fewest of the stream's flags over.
  private static func name(_ idc: UInt8, _ constraints: Constraints) -> String? {
    switch idc {
    case 1: return "main"
    case 2: return "main-10"
    case 3: return "main-still-picture"
    default: break
    }
    var best: (name: String, surplus: Int)?
    for row in rows(idc) where constraints.isSuperset(of: row.constraints) {
      var relevant: Constraints = [.maximum12Bit, .maximum10Bit, .maximum8Bit, .intra, .onePicture]
      relevant.formUnion(.chromas)
      // Only these profiles have general_max_14bit_constraint_flag (7.4.4).
      if idc == 5 || idc >= 9 { relevant.insert(.maximum14Bit) }
      let surplus = constraints.intersection(relevant).subtracting(row.constraints).rawValue.nonzeroBitCount
      if surplus <= best?.surplus ?? .max { best = (row.name, surplus) }
    }
    return best?.name
  }

  /// The profile itself and those with a compatibility flag.
  private var candidates: [UInt8] { [idc] + (1...11).filter { $0 != idc && isCompatible(with: $0) } }

  /// The value of the caps field `profile`, by the profile's own fields; nil if they are unknown.
  public var name: String? {
    for idc in candidates {
      if let name = Self.name(idc, constraints) { return name }
    }
    return nil
  }

  /// The value of the caps field `profile`, for such pictures. Some encoders send a profile to which their pictures
  /// do not conform, or none. The value is then the profile of the same kind to which they would conform, or the
  /// lowest that allows them.
  ///
  /// - Parameters:
  ///   - chromaFormat: `chroma_format_idc`.
  ///   - bitDepth: the larger one of luma and chroma.
  public func name(chromaFormat: ChromaFormat, bitDepth: Int) -> String {
    for idc in candidates {
      switch idc {
      case 1, 3: if chromaFormat != .yuv420 || bitDepth != 8 { continue }
      case 2: if chromaFormat != .yuv420 || bitDepth > 10 { continue }
      default: break
      }
      if let name = Self.name(idc, constraints) { return name }
    }
    let kept = Self.constraints(chromaFormat: chromaFormat, bitDepth: bitDepth)
    let corrected = constraints.subtracting(.depths).subtracting(.chromas).union(kept)
    for idc in candidates where idc > 3 {
      if let name = Self.name(idc, corrected) { return name }
    }
    return Self.leastName(chromaFormat: chromaFormat, bitDepth: bitDepth)
  }

  private static func constraints(chromaFormat: ChromaFormat, bitDepth: Int) -> Constraints {
    var constraints: Constraints = []
    if bitDepth <= 14 { constraints.insert(.maximum14Bit) }
    if bitDepth <= 12 { constraints.insert(.maximum12Bit) }
    if bitDepth <= 10 { constraints.insert(.maximum10Bit) }
    if bitDepth <= 8 { constraints.insert(.maximum8Bit) }
    if chromaFormat != .yuv444 { constraints.insert(.maximum422) }
    if chromaFormat == .yuv420 || chromaFormat == .monochrome { constraints.insert(.maximum420) }
    if chromaFormat == .monochrome { constraints.insert(.monochrome) }
    return constraints
  }

  private static func leastName(chromaFormat: ChromaFormat, bitDepth: Int) -> String {
    switch (chromaFormat, bitDepth) {
    case (.monochrome, ...8): "monochrome"
    case (.monochrome, ...10): "monochrome-10"
    case (.monochrome, ...12): "monochrome-12"
    case (.monochrome, _): "monochrome-16"
    case (.yuv420, ...8): "main"
    case (.yuv420, ...10): "main-10"
    case (.yuv420, ...12): "main-12"
    case (.yuv422, ...10): "main-422-10"
    case (.yuv422, ...12): "main-422-12"
    case (.yuv444, ...8): "main-444"
    case (.yuv444, ...10): "main-444-10"
    case (.yuv444, ...12): "main-444-12"
    default: "main-444-16-intra"
    }
  }

  /// Whether the profile has only intra pictures (A.3.5): no reordering.
  public var isIntraOnly: Bool { idc >= 4 && constraints.contains(.intra) }

  /// The other profiles whose decoders must decode a stream of the profile `name` too (A.3, G.11, H.11, I.11), and
  /// profiles with a compatibility flag. They are names in caps, in order of preference. The element h265parse offers
  /// the same list to a decoder that does not list the profile.
  ///
  /// - Parameters:
  ///   - name: of the profile, as ``name(chromaFormat:bitDepth:)`` gives it.
  ///   - chromaFormat: `chroma_format_idc`.
  public func compatibleProfiles(of name: String, chromaFormat: ChromaFormat) -> [String] {
    var names: [String] = []
    for (idc, other) in [(UInt8(1), "main"), (2, "main-10"), (3, "main-still-picture")] where isCompatible(with: idc) {
      names.append(other)
    }
    names += Self.decodedElsewhere(name, isYUV420: chromaFormat == .yuv420)
    var seen: [String] = [name]
    return names.filter { other in
      if seen.contains(other) { return false }
      seen.append(other)
      return true
    }
  }

  private static func decodedElsewhere(_ name: String, isYUV420: Bool) -> [String] {
    let from420 = ["main-12", "main-422-10", "main-422-12", "main-444-10", "main-444-12"]
    let throughput = ["444", "444-10", "444-14"].map { "screen-extended-high-throughput-" + $0 }
    let screen = ["main", "main-10", "main-444", "main-444-10"].map { "screen-extended-" + $0 } + throughput
    switch name {
    case "main":
      return ["main-10"] + from420 + screen + ["multiview-main", "scalable-main", "scalable-main-10", "3d-main"]
    case "main-10": return from420 + ["screen-extended-main-10", "scalable-main-10"]
    case "main-still-picture":
      let intra = ["", "-10", "-12", "-422-10", "-422-12", "-444", "-444-10", "-444-12", "-444-16"].map {
        "main" + $0 + "-intra"
      }
      return ["main", "main-10"] + from420 + intra + ["main-444-still-picture", "main-444-16-still-picture"] + screen
    case "monochrome": return screen
    case "main-444": return Array(screen[2...3])
    case "main-444-10": return [screen[3]]
    case "high-throughput-444": return throughput
    case "high-throughput-444-10": return Array(throughput[1...])
    case "high-throughput-444-14": return Array(throughput[2...])
    // A decoder of a profile that is not intra-only decodes intra pictures too.
    case "main-intra" where isYUV420:
      return ["main", "main-10"] + from420 + screen + [
        "multiview-main", "scalable-main", "scalable-main-10", "3d-main",
      ]
    case "main-intra": return ["main-12", "main-422-10", "main-422-12"] + screen[2...3]
    case "main-10-intra" where isYUV420:
      return ["main-10"] + from420 + ["screen-extended-main-10", "scalable-main-10"]
    case "main-10-intra": return ["main-12", "main-422-10", "main-422-12"]
    case "main-444-intra": return ["main-444"] + screen[2...3]
    case "main-444-10-intra": return ["main-444-10", screen[3]]
    case "main-12-intra", "main-422-10-intra", "main-422-12-intra", "main-444-12-intra":
      return [String(name.dropLast("-intra".count))]
    default: return []
    }
  }
}
