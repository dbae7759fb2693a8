// SPDX-License-Identifier: MPL-2.0
import CAVCodec
import Glibc

extension Frame {
  /// Returns another reference to the samples, with size, format and cropping. The rest of the properties are lost.
  ///
  /// - Throws: `AVError.invalidArgument` for an empty frame, `AVError.outOfMemory`.
  package func withoutProperties() throws(AVError) -> Frame {
    let frame = try Frame()
    unsafe try AVError.check(cav_frame_lend_samples(frame.raw, raw, AVPixelFormat(raw.pointee.format)))
    unsafe frame.raw.pointee.crop_left = unsafe raw.pointee.crop_left
    unsafe frame.raw.pointee.crop_right = unsafe raw.pointee.crop_right
    unsafe frame.raw.pointee.crop_top = unsafe raw.pointee.crop_top
    unsafe frame.raw.pointee.crop_bottom = unsafe raw.pointee.crop_bottom
    return frame
  }

  /// The peak signal-to-noise ratio of this picture's luma in dB; infinite if it equals the original's.
  ///
  /// - Parameter original: its cropping determines the samples that count.
  /// - Returns: nil if the pictures differ in size or bit depth, or have no samples in memory.
  package func lumaPSNR(to original: borrowing Frame) -> Double? {
    let columns = original.width - original.cropLeft - original.cropRight
    let rows = original.height - original.cropTop - original.cropBottom
    guard width == original.width, height == original.height, columns > 0, rows > 0, original.cropLeft >= 0,
      original.cropTop >= 0, let depth = lumaDepth, depth == original.lumaDepth
    else { return nil }
    var sum: UInt64 = 0
    for row in original.cropTop..<original.cropTop + rows {
      if depth > 8 {
        guard let own = unsafe samples(0, row: row), let other = unsafe original.samples(0, row: row)
        else { return nil }
        unsafe sum &+= Self.squares(own + original.cropLeft, other + original.cropLeft, columns)
      } else {
        guard let own = unsafe plane(0), let other = unsafe original.plane(0) else { return nil }
        unsafe sum &+= Self.squares(
          own + row * stride(0) + original.cropLeft, other + row * original.stride(0) + original.cropLeft, columns)
      }
    }
    let peak = Double(1 << depth - 1)
    return sum == 0 ? .infinity : 10 * log10(peak * peak * Double(columns) * Double(rows) / Double(sum))
  }

  /// Bits of a luma sample, at most 16; nil if samples are not in memory, or packed.
  private var lumaDepth: Int? {
    guard let samples = unsafe cav_pix_fmt_desc_get(AVPixelFormat(format.rawValue)) else { return nil }
    let luma = unsafe samples.pointee.comp.0
    let isPlain = luma.plane == 0 && luma.offset == 0 && luma.shift == 0 && luma.step == (luma.depth > 8 ? 2 : 1)
    return isPlain && 8...16 ~= luma.depth ? Int(luma.depth) : nil
  }

  /// The sum of the squared differences of samples.
  private static func squares<Value: FixedWidthInteger>(
    _ first: UnsafeMutablePointer<Value>, _ second: UnsafeMutablePointer<Value>, _ count: Int
  ) -> UInt64 {
    var sum: UInt64 = 0
    for index in 0..<count {
      let difference = unsafe Int32(truncatingIfNeeded: first[index]) &- Int32(truncatingIfNeeded: second[index])
      sum &+= UInt64(UInt32(bitPattern: difference &* difference))
    }
    return sum
  }
}
