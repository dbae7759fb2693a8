// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x

/// The consequences of edits for a file.
struct EditConsequences {
  /// For the user.
  fileprivate(set) var remarks: [String] = []
  /// Whether the stream announces a frame rate of its own, as far as that is known.
  fileprivate(set) var mayAnnounceRate = true
}

extension StreamEditList {
  /// Finds the level and the reorder depth that are left to be found. If the edits depend on pictures, the file is read
  /// once more.
  ///
  /// - Throws: a `Failure` for an edit whose announcement the pictures do not keep to.
  mutating func measure(_ input: InputFile) async throws(Failure) -> EditConsequences {
    var consequences = EditConsequences()
    guard dependsOnPictures || affects(.rate) && input.size != nil else { return consequences }
    guard input.size != nil else {
      throw Failure(
        "\(input.name): measuring reads the input twice, which a pipe does not allow; save it to a file first")
    }
    let measure = try await StreamMeasure(input)
    consequences.mayAnnounceRate = measure.announcesRate
    try checkConstraints(measure, input)
    var edits = edits(at: nil, reordering: try reordering(measure, input))
    if findsLevel {
      edits.append(.level(try measure.lowestLevel(measure.codec.syntax, after: edits, input)))
    } else if let level = edits.lazy.compactMap({ if case .level(let level) = $0 { level } else { nil } }).first {
      try measure.check(measure.codec.syntax, level, in: edits, input)
    } else {
      if edits.contains(.highTier(false)) { try measure.checkMainTier(in: edits, input) }
      let others = edits.filter { !$0.affects(.rate) }
      if affects(.rate), let excess = measure.excess(measure.codec.syntax, of: edits, without: others) {
        consequences.remarks.append(
          "the new frame rate exceeds the level: \(excess); --level auto finds a level with room")
      }
    }
    self = StreamEditList(edits)
    return consequences
  }

  /// Whether the written values, or their truth, depend on the pictures.
  private var dependsOnPictures: Bool {
    affects(.level) || setsReordering || claimsNonPacked
      || edits.contains { if case .constraintSet(_, true) = $0 { true } else { $0 == .highTier(false) } }
  }

  private var claimsNonPacked: Bool { edits.contains(.sourceConstraint(.nonPacked, true)) }

  /// Refuses constraint flags that the pictures contradict.
  private func checkConstraints(_ measure: StreamMeasure, _ input: InputFile) throws(Failure) {
    for case .constraintSet(let set, true) in edits where measure.codec == .h264 {
      if let reason = measure.tools.contradiction(ofConstraint: set) { throw Failure("\(input.name): \(reason)") }
    }
    guard claimsNonPacked, let index = measure.firstPacked else { return }
    throw Failure(
      "\(input.name): access unit \(index) has frame packing SEI, which general_non_packed_constraint_flag 1 excludes "
        + "(H.265 7.4.4)")
  }

  /// The edit that writes the measured reorder depth, or the requested one; `nil` if none is requested.
  ///
  /// - Throws: a `Failure` if the requested depth is below the measured one.
  private func reordering(_ measure: StreamMeasure, _ input: InputFile) throws(Failure) -> StreamEdit? {
    guard setsReordering else { return nil }
    guard measure.unknown == 0 else {
      throw Failure(
        "\(input.name): the order of \(Text.count(measure.unknown, "picture")) cannot be read, so it cannot be measured"
      )
    }
    guard let frames = leastReordering else { return .reordering(UInt8(clamping: measure.depth), buffer: nil) }
    guard frames >= measure.depth else {
      throw Failure(
        "\(input.name): access unit \(measure.accessUnit) is shown before \(Text.count(measure.depth, "picture")) "
          + "that \(measure.depth == 1 ? "precedes" : "precede") it in the stream: --latency \(frames) is less "
          + "(\(measure.clause))"
      )
    }
    return .reordering(frames, buffer: nil)
  }
}
