// SPDX-License-Identifier: MPL-2.0
import AVCodec

@testable import VideoDecoding

/// When codecs of a session fail.
final class FaultPlan {
  /// Called with the number of the codec, from 0, when it is opened.
  var open: (_ opening: Int) -> AVError? = { _ in nil } { didSet { isHarmless = false } }
  /// Called with the number of the codec and the index of the access unit.
  var send: (_ opening: Int, _ index: Int64) -> AVError? = { _, _ in nil } { didSet { isHarmless = false } }
  /// Called before each frame, with the number of the codec and the number of frames that it has output.
  var receive: (_ opening: Int, _ frames: Int) -> AVError? = { _, _ in nil } { didSet { isHarmless = false } }

  /// No codec fails.
  private var isHarmless = true
  private(set) var openings = 0
  /// Weak references to the codecs that were opened.
  private(set) var codecs: [WeakCodec] = []
  /// The number of codecs and libavcodec contexts that exist.
  var living: Int { codecs.count { $0.codec != nil || $0.context != nil } }

  /// A weak reference to a codec.
  struct WeakCodec {
    weak var codec: FaultyCodec?
    weak var context: CodecContext?
  }

  /// An opener for a session.
  var opener: CodecOpener {
    { (settings, bridge) throws(CodecFailure) in
      let opening = self.openings
      self.openings += 1
      if self.isHarmless, TestIsolation.isTested {
        return try ServiceOpener(ProcessLimits(), HardwareRequest(), cancellation: nil).open(settings, bridge)
      }
      if let error = self.open(opening) { throw CodecFailure(error) }
      let context: CodecContext
      do throws(AVError) {
        context = try CodecContext(settings, buffers: bridge)
      } catch {
        throw CodecFailure(error)
      }
      let codec = FaultyCodec(context, plan: self, opening: opening)
      self.codecs.append(WeakCodec(codec: codec, context: context))
      return RunningCodec(codec)
    }
  }
}

/// A libavcodec context with failures added. A failing call does not reach the context, as with a lost device.
final class FaultyCodec: PacketCodec {
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
