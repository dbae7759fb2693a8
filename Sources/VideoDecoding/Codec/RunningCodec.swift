// SPDX-License-Identifier: MPL-2.0
package import AVCodec

/// A codec of this process: sends and receives as libavcodec requires, and reports which access unit each answer
/// belongs to.
package final class RunningCodec: CodecBoundary {
  private let codec: any PacketCodec
  package let decoder: SessionDecoder
  /// Access units that frame threads are still decoding.
  private var inFlight = RingQueue<UInt64>()
  private var isDraining = false
  package private(set) var youngest: UInt64?
  /// An empty frame to receive into next.
  private var spareFrame: Frame?

  /// Runs a codec that was just opened.
  package init(_ codec: any PacketCodec, decoder: SessionDecoder = .software) {
    self.codec = codec
    self.decoder = decoder
  }

  package var status: CodecStatus { CodecStatus(reorderDepth: codec.reorderDepth, threadDelay: codec.threadDelay) }

  package func skip(_ pictures: CodecSettings.Skip) { codec.skip = pictures }

  package func flush() {
    codec.flush()
    inFlight.removeAll()
    isDraining = false
  }

  package func decode(_ packet: Packet, index: UInt64, report: (CodecEvent) -> Void) throws(AVError) {
    var answer: AVError?
    // A codec takes a packet once its frames are received; after more rounds than this it is broken.
    var rounds = 0
    sending: while true {
      do throws(AVError) {
        answer = nil
        try codec.send(packet)
      } catch {
        answer = error
      }
      rounds += 1
      switch answer {
      case .tryAgain? where rounds < 4: try receiveFrames(report)
      case .endOfFile? where rounds < 4: codec.flush()
      case .tryAgain?, .endOfFile?: throw .bug
      default: break sending
      }
    }
    if let answer, answer.meansLostSession { throw answer }
    inFlight.append(index)
    youngest = index
    while inFlight.count > codec.threadDelay {
      // Each decoding that begins also ends; an error belongs to the decoding that ends.
      endDecoding(answer, report)
      answer = nil
    }
    if let answer { report(.failed(index: index, answer)) }
    try receiveFrames(report)
  }

  package func drain(report: (CodecEvent) -> Void) throws(AVError) {
    isDraining = true
    do throws(AVError) {
      try codec.sendEndOfStream()
    } catch {
      if error.meansLostSession { throw error }
      // libavcodec drains all the same: the error belongs to an access unit that a thread has just ended.
      if error != .endOfFile { endDecoding(error, report) }
    }
    while try !receiveFrames(report) {}
    while inFlight.count > 0 { endDecoding(nil, report) }
  }

  /// Receives all frames that are ready.
  ///
  /// - Returns: true when the codec was drained to the end.
  @discardableResult
  private func receiveFrames(_ report: (CodecEvent) -> Void) throws(AVError) -> Bool {
    // Bad data here belongs to an access unit; the bound ends a codec that fails for ever.
    var failures = 0
    while true {
      var frame: Frame
      if let spare = spareFrame.take() { frame = spare } else { frame = try Frame() }
      do throws(AVError) {
        switch try codec.receive(frame) {
        case .frame:
          // A decoding ends for each frame that a drained codec gives.
          if isDraining { endDecoding(nil, report) }
          let errors = codec.takeErrors(timestamp: frame.timestamp)
          let picture = PictureDescription(frame)
          let memory = frame.owner as? PictureMemory
          // The picture's memory may be needed longer than the frame, which is the next to be received into.
          frame.removeContent()
          spareFrame = consume frame
          if let memory { report(.picture(picture, memory, errors, isDraining: isDraining, status)) }
        case .needsInput:
          spareFrame = consume frame
          return false
        case .endOfStream:
          spareFrame = consume frame
          return true
        }
      } catch {
        if error.meansLostSession { throw error }
        failures += 1
        if failures > 64 { throw .bug }
        endDecoding(error, report)
      }
    }
  }

  /// Decoding of the oldest access unit has ended, if there is one.
  private func endDecoding(_ error: AVError?, _ report: (CodecEvent) -> Void) {
    guard let index = inFlight.popFirst() else { return }
    report(.decoded(index: index, error, codec.takeErrors(timestamp: Int64(clamping: index))))
  }
}

/// The calls of libavcodec that decoding needs. Tests make them fail.
package protocol PacketCodec: AnyObject {
  /// Sends a packet.
  func send(_ packet: Packet) throws(AVError)
  /// Begins to drain: no packet follows.
  func sendEndOfStream() throws(AVError)
  /// Receives a frame.
  func receive(_ frame: borrowing Frame) throws(AVError) -> CodecContext.Reception
  /// The errors in pictures of a packet whose decoding has ended.
  func takeErrors(timestamp: Int64) -> FrameErrors
  /// Discards everything.
  func flush()
  /// Frames held back for reordering.
  var reorderDepth: Int { get }
  /// Frames held back by frame threads.
  var threadDelay: Int { get }
  /// Pictures to skip.
  var skip: CodecSettings.Skip { get set }
}

extension CodecContext: PacketCodec {}
