// SPDX-License-Identifier: MPL-2.0
import CAVCodec
import Glibc
import Testing

@testable import AVCodec
@testable import VideoDecoding

/// Pictures of a gradient that moves, for encoders.
struct MovingGradient {
  let format: PixelFormat
  let frameFormat: FrameFormat
  let width: Int, height: Int
  /// Memory for these pictures and for decoded ones.
  let memory = PictureBridge(allocator: nil, layout: .native)

  init(_ name: String, width: Int = 96, height: Int = 64) throws {
    frameFormat = try #require(FrameFormat(name: name))
    format = try #require(PixelFormat(frameFormat))
    (self.width, self.height) = (width, height)
  }

  /// The picture of that number.
  func picture(_ number: Int) throws -> Frame {
    let frame = try Frame()
    let request = FrameBufferRequest(
      timestamp: 0, format: frameFormat, width: width, height: height, cropLeft: 0, cropRight: 0, cropTop: 0,
      cropBottom: 0, alignedWidth: width, alignedHeight: height, strideAlignment: 64)
    unsafe try frame.attach(memory.buffer(for: request))
    unsafe frame.raw.pointee.format = frameFormat.rawValue
    unsafe frame.raw.pointee.width = Int32(width)
    unsafe frame.raw.pointee.height = Int32(height)
    unsafe try visit(frame) { samples, row, plane, column in
      let sample = sample(number, row: row, plane: plane, column: column)
      for byte in 0..<format.bytesPerSample {
        unsafe samples[column * format.bytesPerSample + byte] = UInt8(truncatingIfNeeded: sample >> (8 * byte))
      }
    }
    return frame
  }

  /// How close a frame is to the picture of that number, in decibels (PSNR).
  func similarity(of frame: borrowing Frame, to number: Int) throws -> Double {
    var (squares, count) = (0.0, 0.0)
    unsafe try visit(frame) { samples, row, plane, column in
      let value = (0..<format.bytesPerSample).reduce(0) { value, byte in
        unsafe value | Int(samples[column * format.bytesPerSample + byte]) << (8 * byte)
      }
      let difference = Double(value - sample(number, row: row, plane: plane, column: column))
      squares += difference * difference
      count += 1
    }
    let peak = Double(1 << format.bitDepth - 1)
    return 10 * log10(peak * peak * count / max(squares, 1))
  }

  private func sample(_ number: Int, row: Int, plane: Int, column: Int) -> Int {
    let position = (column + 2 * row + 3 * number + 40 * plane) % 384
    return (32 + min(position, 384 - position)) << (format.bitDepth - 8)
  }

  /// Calls `body` with each sample's row of bytes, and the numbers of row, plane and column.
  private func visit(
    _ frame: borrowing Frame, _ body: (UnsafeMutablePointer<UInt8>, Int, Int, Int) -> Void
  ) throws {
    for plane in 0..<format.planeCount {
      guard let start = unsafe frame.plane(plane) else { throw AVError.invalidArgument }
      for row in 0..<format.rowCount(plane: plane, height: height) {
        let samples = unsafe start + row * frame.stride(plane)
        for column in 0..<format.rowByteCount(plane: plane, width: width) / format.bytesPerSample {
          unsafe body(samples, row, plane, column)
        }
      }
    }
  }
}
