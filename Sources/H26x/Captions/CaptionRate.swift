// SPDX-License-Identifier: MPL-2.0

/// A frame rate at which captions are sent: one of those of Caption Distribution Packets (SMPTE ST 334-2).
package struct CaptionRate: Sendable, Equatable {
  /// `cdp_frame_rate`, 1 to 8.
  package let code: UInt8
  /// Frames a second.
  package let ratio: Ratio

  /// Creates the rate of a code; nil for a reserved one.
  package init?(code: UInt8) {
    guard let ratio = CaptionDistributionPacket.frameRate(code: code) else { return nil }
    (self.code, self.ratio) = (code, ratio)
  }

  /// Creates the rate that a frame rate is to three decimals; nil for another one.
  package init?(_ rate: Ratio) {
    let code: UInt8
    switch UInt64(rate.numerator) * 1000 / UInt64(max(rate.denominator, 1)) {
    case 23_976: code = 1
    case 24_000: code = 2
    case 25_000: code = 3
    case 29_970: code = 4
    case 30_000: code = 5
    case 50_000: code = 6
    case 59_940: code = 7
    case 60_000: code = 8
    default: return nil
    }
    self.init(code: code)
  }

  /// Frames that a second of time code counts: 24, 25, 30, 50 or 60.
  package var base: Int {
    switch code {
    case 1, 2: 24
    case 3: 25
    case 4, 5: 30
    case 6: 50
    default: 60
    }
  }

  /// Whether time codes leave out numbers to keep up with the clock, as those of 29.97 and 59.94 usually do.
  package var dropsFrames: Bool { code == 4 || code == 7 }

  /// `cc_count` of a frame (CTA-708, 4.4): 600 triplets a second.
  package var tripletCount: Int { 600 / base }

  /// The triplets of CTA-608 that a frame has, by their fields.
  ///
  /// There are 60 a second: at 29.97 frames a second, one for each field. At 24 frames a second, there are two and
  /// three in turn.
  ///
  /// - Parameter number: of the frame in presentation order.
  package func pairs(ofFrame number: Int) -> [CaptionTriplet.Kind] {
    let twoFrames = 120 / base
    // Two frames repeat after four, and no product overflows.
    let frame = number & 3
    return (frame * twoFrames / 2..<(frame + 1) * twoFrames / 2).map { $0 & 1 == 0 ? .field1 : .field2 }
  }

  /// Returns a frame's triplets with pairs of CTA-608, if they have none, and padding up to ``tripletCount``.
  ///
  /// - Returns: nil for more triplets than that.
  package func padded(_ triplets: [CaptionTriplet], frame number: Int) -> [CaptionTriplet]? {
    var padded = triplets
    while padded.last.map({ !$0.isValid }) ?? false { padded.removeLast() }
    if !padded.contains(where: { $0.isPair }) {
      padded = pairs(ofFrame: number).map { CaptionTriplet($0, 0x80, 0x80) } + padded
    }
    return padded.count <= tripletCount ? filled(padded) : nil
  }

  /// Returns triplets with padding up to ``tripletCount``, or as they are if there are more.
  package func filled(_ triplets: [CaptionTriplet]) -> [CaptionTriplet] {
    triplets + [CaptionTriplet](repeating: .padding, count: max(tripletCount - triplets.count, 0))
  }

  /// Frames a second with decimals, such as "29.97".
  package var text: String {
    switch code {
    case 1: "23.976"
    case 4: "29.97"
    case 7: "59.94"
    default: "\(ratio.numerator)"
    }
  }
}

extension CaptionTriplet {
  /// A triplet that says nothing.
  package static var padding: CaptionTriplet { CaptionTriplet(.packetData, isValid: false, 0, 0) }

  /// Whether it is a pair of CTA-608.
  package var isPair: Bool { kind == .field1 || kind == .field2 }

  /// Whether it is a pair of CTA-608 with captions: valid, and not only parity bits.
  package var isCaptionPair: Bool { isValid && isPair && (first | second) & 0x7F != 0 }
}
