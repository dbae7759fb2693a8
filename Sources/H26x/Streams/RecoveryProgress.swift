// SPDX-License-Identifier: MPL-2.0

/// A gradual recovery. It begins where decoding does, at the picture with the recovery point SEI message. It ends at
/// the picture, in decoding order, whose output begins the correct ones (H.264, D.2.8; H.265, D.3.8).
package struct RecoveryProgress<Codec: ElementCodecSyntax>: Sendable {
  private var slice: Codec.SliceHeader
  private var remaining: Int

  /// Begins a recovery.
  ///
  /// - Parameters:
  ///   - point: the message.
  ///   - slice: the first slice of the picture in whose access unit it is.
  package init(_ point: Codec.RecoveryPoint, at slice: Codec.SliceHeader) {
    self.slice = slice
    remaining = point.distance
  }

  /// Whether the recovery point is reached.
  package var isComplete: Bool { remaining <= 0 }

  /// Takes the first slice of the next picture in decoding order.
  package mutating func take(_ next: Codec.SliceHeader, sps: borrowing Codec.SequenceParameterSet) {
    remaining -= Codec.recoveryDistance(from: slice, to: next, sps: sps)
    slice = next
  }
}
