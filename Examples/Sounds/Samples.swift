// SPDX-License-Identifier: MPL-2.0
import GStreamer

// What the elements here have in common: 16 bits a sample, one channel.

let sampleCaps = "audio/x-raw, format=S16LE, layout=interleaved, rate=[1,192000], channels=1"

/// The samples in a buffer.
func samples(in buffer: borrowing Buffer) throws(FlowError) -> [Int] {
  let bytes = try buffer.copiedBytes()
  return stride(from: 0, to: bytes.count - 1, by: 2).map { index in
    Int(Int16(truncatingIfNeeded: Int(bytes[index]) | Int(bytes[index + 1]) << 8))
  }
}

/// A buffer of samples; those that are too loud are as loud as can be.
func buffer(of samples: [Int]) throws(FlowError) -> Buffer {
  let bytes = samples.flatMap { sample in
    let sample = Int16(clamping: sample)
    return [UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)]
  }
  guard let buffer = Buffer(copying: bytes.span) else { throw .error }
  return buffer
}
