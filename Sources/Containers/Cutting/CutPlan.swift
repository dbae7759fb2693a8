// SPDX-License-Identifier: MPL-2.0

/// How the parts of a video are cut: with which mode, and the access units of each.
package struct CutPlan: Sendable, Hashable {
  /// Why a part is not cut by a better mode. Exact is the best one, then hidden, then keyframe.
  package enum Reason: Sendable, Hashable {
    /// The user chose the mode.
    case requested
    /// The target is a pipe, so no other mode can be tried after one that turns out not to work.
    case pipe
    /// No encoder for the codec.
    case noEncoder
    /// No seam can be made of the stream, for a reason that the user reads.
    case unsupported(String)
    /// The part has no place to copy from: its random access points are gradual refreshes, so that all of it would be
    /// encoded.
    case gradualRefresh
    /// The target cannot hide pictures.
    case noEditList
    /// No picture begins in the part.
    case noPicture
  }

  /// What a cut can do.
  package struct Abilities: Sendable, Hashable {
    /// The best mode to try.
    package var mode: Window.Bounds.Mode
    /// Why no better mode than ``mode`` is tried; `nil` for the best one.
    package var reason: Reason?
    /// Why pictures cannot be encoded; `nil` if they can.
    package var refusal: Reason?
    /// Why encoded pictures cannot be in front of a recovery point that cannot become an IDR picture; `nil` if they can.
    package var openSeam: Reason?
    /// Whether the target can hide pictures.
    package var hasEditList: Bool
    /// Whether a part without a place to copy from is encoded as a whole.
    package var encodesAll: Bool
    /// Whether only pictures that promise it are entries of an exact cut.
    package var needsPromises: Bool
    /// See ``Window/Bounds/isHalfOpen``.
    package var isHalfOpen: Bool
    /// How a part begins behind another; ``Window/Bounds/Beginning/asItIs`` if each part has a file of its own.
    package var beginning: Window.Bounds.Beginning

    package init(
      mode: Window.Bounds.Mode? = nil, because reason: Reason = .requested, refusal: Reason? = nil,
      openSeam: Reason? = nil, hasEditList: Bool = false, encodesAll: Bool = false, needsPromises: Bool = false,
      isHalfOpen: Bool = true, beginning: Window.Bounds.Beginning = .anew
    ) {
      (self.openSeam, self.needsPromises) = (openSeam, needsPromises)
      (self.isHalfOpen, self.beginning) = (isHalfOpen, beginning)
      (self.mode, self.refusal) = (mode ?? .exact, refusal)
      self.reason = self.mode == .exact ? nil : reason
      (self.hasEditList, self.encodesAll) = (hasEditList, encodesAll)
    }
  }

  /// A part of the video.
  package struct Part: Sendable, Hashable {
    package let range: ResolvedRange
    package let mode: Window.Bounds.Mode
    /// Why no better mode is used; empty for exact cuts.
    package let reasons: [Reason]
    /// The pictures that are shown, in nanoseconds since the first picture of the video: when the first one begins and
    /// the last one ends; `nil` without any.
    package let shown: Range<Int64>?
    /// Access units that are written as they are, and shown.
    package let copied: AccessUnitNumbers
    /// Access units whose pictures are encoded.
    package let encoded: AccessUnitNumbers
    /// Access units that are decoded because encoded pictures may refer to them. Some are also copied.
    package let needed: AccessUnitNumbers
    /// Access units that are written as they are, but not shown.
    package let hidden: AccessUnitNumbers
    /// The numbers of access units that are left out between the last keyframe in front of the part and its last
    /// access unit.
    let leftOut: [Window.Tally.Reason: Int]
    /// Why no mode works, so that the whole cut fails; `nil` if one does.
    let obstacle: SeamObstacle?
  }

  package let parts: [Part]

  /// Checks whether a cut by this plan has a result.
  ///
  /// - Parameters:
  ///   - target: the name of the output.
  ///   - canRetry: whether input and output are files.
  /// - Throws: the `Failure` of a cut that has none.
  package func check(_ target: String, canRetry: Bool) throws(Failure) {
    for part in parts {
      if let obstacle = part.obstacle {
        let bounds = Window.Bounds(start: part.range.start, end: part.range.end, mode: part.mode)
        throw CopyPlan.failure(target, CopyPlan.text(bounds), .recoveryPoint, obstacle)
      }
      // An exact cut was requested and refused.
      if !canRetry, part.mode != .exact, let reason = part.reasons.first, ![.requested, .pipe].contains(reason) {
        throw Failure("\(target): cannot be cut exactly, because \(reason.text)")
      }
    }
    guard parts.contains(where: { $0.shown != nil }) else {
      throw Failure("\(target): no range has a picture", isEmptyRange: true)
    }
  }
}

extension CutPlan.Reason {
  /// The reason for which pictures cannot be encoded.
  package init(_ obstacle: SeamObstacle) {
    switch obstacle {
    case .noEncoder: self = .noEncoder
    case .gradualRefresh: self = .gradualRefresh
    default: self = .unsupported(obstacle.text)
    }
  }

  /// The name in documents.
  package var code: String {
    switch self {
    case .requested: "requested"
    case .pipe: "pipe"
    case .noEncoder: "noEncoder"
    case .unsupported: "unsupported"
    case .gradualRefresh: "gradualRefresh"
    case .noEditList: "noEditList"
    case .noPicture: "noPicture"
    }
  }

  /// The reason for the user, as a clause.
  package var text: String {
    switch self {
    case .requested: "as requested"
    case .pipe: "the output is a pipe, in which no mode can be tried"
    case .noEncoder: "there is no encoder for the codec"
    case .unsupported(let reason): reason
    case .gradualRefresh: "it has gradual refresh only, so all of it would be encoded"
    case .noEditList: "the container cannot hide pictures"
    case .noPicture: "no picture begins in it"
    }
  }
}
