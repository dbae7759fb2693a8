// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// Puts the NAL units of an access unit together when each comes in a buffer of its own (`alignment=nal`).
///
/// The buffer with the MARKER flag ends an access unit, at once. Where upstream sets none, the NAL unit that begins the
/// next access unit does. The first buffer's frame stands for the access unit; the others are released.
struct AccessUnitCollector: ~Copyable {
  private var collected: VideoCodecFrame?
  private var isFinished = false
  private var detector = H264.AccessUnitDetector()

  /// Adds a NAL unit. Answers the access unit before it when it begins another.
  mutating func add(
    _ frame: consuming VideoCodecFrame, parameterSets: borrowing H264.ParameterSets, to element: VideoDecoder
  ) -> VideoCodecFrame? {
    let beginsAnother = frame.withInput { begins(with: $0, parameterSets) } ?? false
    isFinished = frame.inputFlags.contains(.marker)
    if beginsAnother, let before = collected.take() {
      collected = consume frame
      return before
    }
    guard let first = collected.take() else {
      collected = consume frame
      return nil
    }
    if let rest = frame.withInput({ $0.share() }) {
      first.modifyInput {
        $0.addMetas(of: rest)
        $0.append(rest.share())
      }
    }
    element.release(frame)
    collected = consume first
    return nil
  }

  /// The access unit that has been collected, if the MARKER flag says that it is complete.
  mutating func takeFinished() -> VideoCodecFrame? { isFinished ? takeRest() : nil }

  /// What has been collected, complete or not.
  mutating func takeRest() -> VideoCodecFrame? {
    isFinished = false
    detector.reset()
    return collected.take()
  }

  /// Forgets what has been collected; the base class releases the frame.
  mutating func discard() { _ = takeRest() }

  private mutating func begins(
    with buffer: borrowing Buffer, _ parameterSets: borrowing H264.ParameterSets
  ) -> Bool {
    do throws(FlowError) {
      let map = try buffer.map()
      let bytes = map.bytes
      var begins = false
      // A length in front is as long as a start code of four bytes: what matters is where the NAL unit begins.
      var start = AnnexB.startCode(in: bytes).map { $0 + 3 } ?? 4
      while start < bytes.count {
        if detector.feed(bytes.extracting(start...), parameterSets: parameterSets).boundary == .begins { begins = true }
        guard !H264.NALUnitType(rawValue: bytes[start]).isVCL, let next = AnnexB.startCode(in: bytes, from: start)
        else { break }
        start = next + 3
      }
      return begins
    } catch {
      return false
    }
  }
}
