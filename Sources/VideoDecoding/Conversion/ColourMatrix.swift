// SPDX-License-Identifier: MPL-2.0

/// Converts samples to RGB of 8 bits and full range, by the matrix coefficients of H.273, 8.3.
struct ColourMatrix {
  /// 1 in the numbers below.
  private static let scale = 65_536.0

  /// The offsets subtracted from Y, and from Cb and Cr.
  private let black: Int32, neutral: Int32
  /// Factors of Y, Cb and Cr in red, green and blue.
  private let luma: Int32
  private let red: (Int32, Int32), green: (Int32, Int32), blue: (Int32, Int32)
  /// The planes are G, B and R.
  private let isRGB: Bool

  init(_ picture: DecodedPicture) {
    let format = picture.pixelFormat
    let matrix = picture.colour.matrix ?? (picture.height >= 720 ? 1 : 6)
    let isPlanarRGB = format.planeCount == 3 && format.rawValue.hasPrefix("gbrp")
    self.init(
      depth: format.bitDepth, isFullRange: picture.colour.isFullRange ?? false, matrix: matrix,
      isRGB: isPlanarRGB || matrix == 0 && format.chromaShift == (0, 0) && format != .gray)
  }

  /// - Parameters:
  ///   - depth: bits of a sample, 8 to 14.
  ///   - matrix: `matrix_coefficients`.
  ///   - isRGB: the planes are G, B and R.
  init(depth: Int, isFullRange isFull: Bool, matrix: UInt8, isRGB: Bool = false) {
    let unit = Double(1 << (depth - 8))
    let full = Double((1 << depth) - 1)
    black = isFull ? 0 : 16 << Int32(depth - 8)
    neutral = 1 << Int32(depth - 1)
    let toByte = 255 * Self.scale
    let lumaFactor = toByte / (isFull ? full : 219 * unit)
    let chromaFactor = toByte / (isFull ? full : 224 * unit)
    luma = Int32(lumaFactor.rounded())
    func pair(_ first: Double, _ second: Double) -> (Int32, Int32) {
      (Int32((first * chromaFactor).rounded()), Int32((second * chromaFactor).rounded()))
    }
    self.isRGB = isRGB
    if matrix == 8 {
      // YCgCo.
      (red, green, blue) = (pair(-1, 1), pair(1, 0), pair(-1, -1))
      return
    }
    let (kr, kb) = Self.weights(matrix)
    let kg = 1 - kr - kb
    red = pair(0, 2 * (1 - kr))
    green = pair(-2 * (1 - kb) * kb / kg, -2 * (1 - kr) * kr / kg)
    blue = pair(2 * (1 - kb), 0)
  }

  /// The weights of red and blue in luma (H.273, Table 4).
  private static func weights(_ matrix: UInt8) -> (red: Double, blue: Double) {
    switch matrix {
    case 4: (0.30, 0.11)
    case 5, 6: (0.299, 0.114)
    case 7: (0.212, 0.087)
    case 9, 10: (0.2627, 0.0593)
    default: (0.2126, 0.0722)
    }
  }

  /// Red, green and blue.
  ///
  /// Factors fall as samples get deeper, so that all sums are below 2³¹. Samples beyond their depth, which no codec
  /// should give, have some colour.
  @inline(__always)
  func rgb(_ first: Int32, _ second: Int32, _ third: Int32) -> (UInt8, UInt8, UInt8) {
    if isRGB {
      return (
        Self.byte((third &- black) &* luma), Self.byte((first &- black) &* luma), Self.byte((second &- black) &* luma)
      )
    }
    let y = (first &- black) &* luma
    let (cb, cr) = (second &- neutral, third &- neutral)
    return (
      Self.byte(y &+ red.0 &* cb &+ red.1 &* cr), Self.byte(y &+ green.0 &* cb &+ green.1 &* cr),
      Self.byte(y &+ blue.0 &* cb &+ blue.1 &* cr)
    )
  }

  @inline(__always)
  private static func byte(_ value: Int32) -> UInt8 {
    UInt8(truncatingIfNeeded: min(max((value &+ 32_768) >> 16, 0), 255))
  }

  /// Writes a row of pixels: blue, green, red and an alpha of 255, or red first.
  ///
  /// SAFETY: the caller vouches for four bytes a sample at `target`, and for as many samples in each row.
  @unsafe func write(
    _ first: UnsafeBufferPointer<UInt16>, _ second: UnsafeBufferPointer<UInt16>, _ third: UnsafeBufferPointer<UInt16>,
    isRedFirst: Bool, to target: UnsafeMutableRawPointer
  ) {
    for index in first.indices {
      let (red, green, blue) = unsafe rgb(Int32(first[index]), Int32(second[index]), Int32(third[index]))
      let (low, high) = isRedFirst ? (red, blue) : (blue, red)
      let pixel = UInt32(low) | UInt32(green) << 8 | UInt32(high) << 16 | 0xFF00_0000
      unsafe target.storeBytes(of: pixel.littleEndian, toByteOffset: 4 * index, as: UInt32.self)
    }
  }
}
