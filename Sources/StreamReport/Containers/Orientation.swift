// SPDX-License-Identifier: MPL-2.0

extension MP4 {
  /// How pictures are turned to be shown (`matrix` of `tkhd`; ISO/IEC 14496-12, 6.2.2), regardless of their scale.
  public struct Orientation: Sendable, Hashable {
    /// The clockwise rotation: 0, 90, 180 or 270 degrees.
    public var rotation: Int
    /// Whether pictures are mirrored left to right before they are turned.
    public var isMirrored = false

    /// Creates an orientation without mirroring.
    init(rotation: Int) { self.rotation = rotation }

    /// Reads the entries a, b, c and d: x' = ax + cy, y' = bx + dy. The result is nil if they do more than scale,
    /// mirror and turn by right angles, except for rounding of a hundredth.
    init?(_ a: Int64, _ b: Int64, _ c: Int64, _ d: Int64) {
      let straight = min(abs(a), abs(d))
      let turned = min(abs(b), abs(c))
      if straight > 0, max(abs(b), abs(c)) * 100 <= straight {
        switch (a > 0, d > 0) {
        case (true, true): rotation = 0
        case (false, false): rotation = 180
        case (false, true): (rotation, isMirrored) = (0, true)
        case (true, false): (rotation, isMirrored) = (180, true)
        }
      } else if turned > 0, max(abs(a), abs(d)) * 100 <= turned {
        switch (b > 0, c > 0) {
        case (true, false): rotation = 90
        case (false, true): rotation = 270
        // Mirrored, (x, y) is (−x, y): turned by 90 degrees, (−y, −x); by 270, (y, x).
        case (false, false): (rotation, isMirrored) = (90, true)
        case (true, true): (rotation, isMirrored) = (270, true)
        }
      } else {
        return nil
      }
    }
  }
}
