// SPDX-License-Identifier: MPL-2.0
import AVCodec

@testable import VideoDecoding

/// Where a codec is to fail. Counts over all codecs that a session opens.
final class FaultPlan {
  /// Asked with the number of the opening, from 0.
  var open: (_ opening: Int) -> AVError? = { _ in nil }
  /// Asked with the opening and the access unit's index.
  var send: (_ opening: Int, _ index: Int64) -> AVError? = { _, _ in nil }
  /// Asked with the opening and the number of frames that this codec has given so far, before each next one.
  var receive: (_ opening: Int, _ frames: Int) -> AVError? = { _, _ in nil }

  private(set) var openings = 0
  /// The codecs opened, as long as someone keeps them.
  private(set) var codecs: [WeakCodec] = []
  /// Codecs that are still there, counting libavcodec's contexts as well.
  var living: Int { codecs.count { $0.codec != nil || $0.context != nil } }

  /// Sees a codec without keeping it.
  struct WeakCodec {
    weak var codec: FaultyCodec?
    weak var context: CodecContext?
  }

  /// An opener for a session.
  var opener: CodecOpener {
    { (settings, buffers) throws(AVError) in
      let opening = self.openings
      self.openings += 1
      if let error = self.open(opening) { throw error }
      let context = try CodecContext(settings, buffers: buffers)
      let codec = FaultyCodec(context, plan: self, opening: opening)
      self.codecs.append(WeakCodec(codec: codec, context: context))
      return codec
    }
  }
}

/// libavcodec's context, with failures added. A failing call does not reach the context, as with a device that is gone.
final class FaultyCodec: CodecBoundary {
  private let codec: CodecContext
  private let plan: FaultPlan
  private let opening: Int
  private var frames = 0

  init(_ codec: CodecContext, plan: FaultPlan, opening: Int) {
    self.codec = codec
    self.plan = plan
    self.opening = opening
  }

  func send(_ packet: Packet) throws(AVError) {
    if let error = plan.send(opening, packet.timestamp) { throw error }
    try codec.send(packet)
  }
  func sendEndOfStream() throws(AVError) { try codec.sendEndOfStream() }
  func receive(_ frame: borrowing Frame) throws(AVError) -> CodecContext.Reception {
    if let error = plan.receive(opening, frames) { throw error }
    let reception = try codec.receive(frame)
    if reception == .frame { frames += 1 }
    return reception
  }
  func takeErrors(timestamp: Int64) -> FrameErrors { codec.takeErrors(timestamp: timestamp) }
  func flush() { codec.flush() }
  var reorderDepth: Int { codec.reorderDepth }
  var threadDelay: Int { codec.threadDelay }
  var skip: CodecSettings.Skip {
    get { codec.skip }
    set { codec.skip = newValue }
  }
}
