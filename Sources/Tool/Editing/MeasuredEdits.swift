// SPDX-License-Identifier: MPL-2.0
import H26x

/// The edits of a file. If they depend on its pictures, the file is read once more.
struct MeasuredEdits {
  private(set) var list: [StreamEdit]
  /// Consequences of the edits, for the user.
  private(set) var remarks: [String] = []
  /// Whether the stream announces a frame rate of its own, as far as that is known.
  private(set) var mayAnnounceRate = true

  /// - Throws: a `Failure` for an edit whose announcement the pictures do not keep to.
  init(_ options: EditOptions, for input: InputFile) async throws(Failure) {
    list = options.list
    if let file = options.insertSEIFrom { list += try SEIFile(path: file).edits() }
    guard options.dependsOnPictures || options.frameRate != nil && input.size != nil else { return }
    guard input.size != nil else {
      throw Failure(
        "\(input.name): measuring reads the input twice, which a pipe does not allow; save it to a file first")
    }
    let measure = try await StreamMeasure(input)
    mayAnnounceRate = measure.announcesRate
    try check(options.constraintSet, measure, input)
    if options.claimsNonPacked, let index = measure.firstPacked {
      throw Failure(
        "\(input.name): access unit \(index) has frame packing SEI, which general_non_packed_constraint_flag 1 excludes "
          + "(H.265 7.4.4)")
    }
    // This must precede a level, because levels limit the buffer.
    if let latency = options.latency { list.insert(try Self.edit(latency, measure, input), at: 0) }
    switch options.level {
    case .lowest: list.append(.level(try measure.lowestLevel(after: list, input)))
    case .named(let level): try measure.check(level, in: list, input)
    case nil:
      if options.tier == .main { try measure.checkMainTier(in: list, input) }
      let others = list.filter { if case .frameRate = $0 { false } else { true } }
      if options.frameRate != nil, let excess = measure.excess(of: list, without: others) {
        remarks.append("the new frame rate exceeds the level: \(excess); --level auto finds a level with room")
      }
    }
  }

  /// Refuses constraint flags that the pictures contradict.
  private func check(
    _ constraints: [ConstraintArgument], _ measure: StreamMeasure, _ input: InputFile
  ) throws(Failure) {
    guard measure.codec == .h264 else { return }
    for constraint in constraints where constraint.value {
      if let reason = measure.tools.contradiction(ofConstraint: constraint.set) {
        throw Failure("\(input.name): \(reason)")
      }
    }
  }

  /// Writes the measured reorder depth, and refuses a lower one.
  private static func edit(
    _ latency: LatencyArgument, _ measure: StreamMeasure, _ input: InputFile
  ) throws(Failure) -> StreamEdit {
    guard measure.unknown == 0 else {
      throw Failure(
        "\(input.name): the order of \(Text.count(measure.unknown, "picture")) cannot be read, so it cannot be measured"
      )
    }
    switch latency {
    case .measured: return measure.edit(depth: measure.depth)
    case .frames(let frames):
      guard frames >= measure.depth else {
        throw Failure(
          "\(input.name): access unit \(measure.accessUnit) is shown before \(Text.count(measure.depth, "picture")) "
            + "that \(measure.depth == 1 ? "precedes" : "precede") it in the stream: --latency \(frames) is less "
            + "(\(measure.clause))"
        )
      }
      return measure.edit(depth: frames)
    }
  }
}

extension EditOptions {
  /// Whether the written values, or their truth, depend on the pictures.
  fileprivate var dependsOnPictures: Bool {
    level != nil || latency != nil || tier == .main || claimsNonPacked
      || constraintSet.contains { $0.value }
  }

  fileprivate var claimsNonPacked: Bool { constraint.contains { $0.constraint == .nonPacked && $0.value } }
}
