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
    /// Why encoded pictures cannot be in front of a recovery point; `nil` if they can.
    package var openSeam: Reason?
    /// Whether the target can hide pictures.
    package var hasEditList: Bool
    /// Whether a part without a place to copy from is encoded as a whole.
    package var encodesAll: Bool
    /// Whether the parts follow one another in one file.
    package var joinsParts: Bool

    package init(
      mode: Window.Bounds.Mode? = nil, because reason: Reason = .requested, refusal: Reason? = nil,
      openSeam: Reason? = nil, hasEditList: Bool = false, encodesAll: Bool = false, joinsParts: Bool = true
    ) {
      (self.openSeam, self.joinsParts) = (openSeam, joinsParts)
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
  }

  package let parts: [Part]
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
