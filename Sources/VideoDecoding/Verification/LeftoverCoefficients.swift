// SPDX-License-Identifier: MPL-2.0
import H26x
import Slices

/// The coefficients of damaged macroblocks that are left in libavcodec's H.264 decoder.
///
/// libavcodec stops in a damaged macroblock, and does not clear the coefficients that it has read of it. The next
/// macroblock of the same thread that has coefficients in the same blocks gets their sum. It may be in an intact picture,
/// which is then wrong, without any report.
struct LeftoverCoefficients {
  /// The blocks with such coefficients, by thread.
  private var blocks: [H264.CodedBlocks] = []

  /// Whether a thread has some.
  func exist(inThread thread: Int) -> Bool { thread < blocks.count && !blocks[thread].isEmpty }

  /// A thread decodes a slice.
  ///
  /// - Parameters:
  ///   - coded: the blocks that have coefficients in some macroblock of it. Only needed if there are leftovers.
  ///   - damaged: those of the macroblock in which it is damaged.
  /// - Returns: whether the slice gets coefficients that are not its own.
  mutating func decode(_ coded: H264.CodedBlocks, damaged: H264.CodedBlocks, inThread thread: Int) -> Bool {
    guard exist(inThread: thread) || !damaged.isEmpty else { return false }
    while blocks.count <= thread { blocks.append(H264.CodedBlocks()) }
    let isMixed = blocks[thread].overlaps(coded)
    blocks[thread].subtract(coded)
    blocks[thread].formUnion(damaged)
    return isMixed
  }
}
