// SPDX-License-Identifier: MPL-2.0
@testable import AVCodec
@testable import VideoDecoding

/// What codecs of a session do that have no libavcodec behind them: they begin pictures, and never end one.
final class CodecScript {
  /// The answer to a packet, by the number of the codec, from 0, the packet's access unit, and how often it came.
  var send: (_ opening: Int, _ index: Int64, _ time: Int) -> AVError? = { _, _, _ in nil }
  /// What goes wrong when pictures are asked for, by the number of the codec and how often that was done.
  var receive: (_ opening: Int, _ time: Int) -> AVError? = { _, _ in nil }
  /// The answer to the end of the stream.
  var end: AVError?
  /// Whether an access unit begins a picture.
  var begins: (_ index: Int64) -> Bool = { _ in true }
  /// Errors found in the picture of an access unit.
  var errors: (_ index: Int64) -> FrameErrors = { _ in [] }
  var reorderDepth = 0
  var threadDelay = 0

  /// How each codec was opened.
  fileprivate(set) var settings: [CodecSettings] = []
  /// The packets of each codec, those that it refused too.
  fileprivate(set) var packets: [[Packet]] = []
  fileprivate(set) var flushes = 0
  /// What the codecs were last set to skip.
  fileprivate(set) var skip = CodecSettings.Skip.none

  /// The access units that a codec was sent.
  func indices(_ opening: Int = 0) -> [Int64] { packets[opening].map(\.timestamp) }

  /// The bytes of a packet.
  func bytes(_ opening: Int, _ packet: Int) -> [UInt8] {
    let packet = packets[opening][packet]
    return (0..<packet.byteCount).map { packet.bytes[$0] }
  }

  /// An opener for a session.
  var opener: CodecOpener {
    { (settings, bridge) throws(CodecFailure) in
      self.settings.append(settings)
      self.packets.append([])
      return RunningCodec(ScriptedCodec(self, bridge, opening: self.settings.count - 1))
    }
  }
}

/// A codec that follows its script.
final class ScriptedCodec: PacketCodec {
  private let script: CodecScript
  private let buffers: any FrameBufferSource
  private let opening: Int
  private var isDraining = false
  private var receptions = 0

  init(_ script: CodecScript, _ buffers: any FrameBufferSource, opening: Int) {
    self.script = script
    self.buffers = buffers
    self.opening = opening
    skip = script.settings[opening].skip
  }

  func send(_ packet: Packet) throws(AVError) {
    let index = packet.timestamp
    let time = script.packets[opening].count { $0.timestamp == index }
    script.packets[opening].append(packet)
    let answer = script.send(opening, index, time)
    if script.begins(index), answer != .tryAgain, answer != .endOfFile, let format = FrameFormat(name: "yuv420p") {
      _ = unsafe try buffers.buffer(
        for: FrameBufferRequest(
          timestamp: index, format: format, width: 32, height: 32, cropLeft: 0, cropRight: 0, cropTop: 0,
          cropBottom: 0, alignedWidth: 32, alignedHeight: 32, strideAlignment: 32))
    }
    if let answer { throw answer }
  }

  func sendEndOfStream() throws(AVError) {
    isDraining = true
    if let error = script.end { throw error }
  }

  func receive(_ frame: borrowing Frame) throws(AVError) -> CodecContext.Reception {
    receptions += 1
    if let error = script.receive(opening, receptions - 1) { throw error }
    return isDraining ? .endOfStream : .needsInput
  }

  func takeErrors(timestamp: Int64) -> FrameErrors { script.errors(timestamp) }

  func flush() {
    isDraining = false
    script.flushes += 1
  }

  var reorderDepth: Int { script.reorderDepth }
  var threadDelay: Int { script.threadDelay }
  var skip: CodecSettings.Skip { didSet { script.skip = skip } }
}
