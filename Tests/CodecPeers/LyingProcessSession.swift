// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink
import TestSupport
import VideoDecoding

/// A decompression session whose codecs are in processes with answers that an input decides.
///
/// These are faults: a trap, a sanitizer's report, a picture with unreadable memory, a session that never ends, and an
/// access unit without exactly one result.
public enum LyingProcessSession {
  /// Drives a session with one input.
  ///
  /// - Returns: the fault; `nil` if there is none.
  public static func run(_ input: [UInt8]) -> String? {
    var fixed = SeededGenerator(state: UInt64(input.first ?? 0) % 16)
    var stream = RandomH264Stream(&fixed)
    let answers = Answers(ByteDecisions(Array(input.dropFirst())))
    var configuration = SessionConfiguration()
    configuration.threadType = .none
    configuration.outputLayout = fixed.oneIn(2) ? .semiPlanar : .native
    configuration.outputCorrupt = fixed.oneIn(2)
    #if DEBUG
      if (input.first ?? 0) & 16 != 0 {
        // A device's process: pictures may stay in its memory, for which shared memory stands in.
        PictureSurface.takeSharedMemory()
        configuration.hardware = .required
        configuration.outputLayout = .semiPlanar
        configuration.outputMemory = .device
      }
    #endif
    guard let format = stream.format,
      let session = try? DecompressionSession(
        format: format, configuration: configuration, allocator: nil,
        openCodec: { (settings, bridge) throws(CodecFailure) in try AnsweredCodec(settings, bridge, answers) })
    else { return nil }
    var results: [UInt64: Int] = [:]
    var tag: UInt64 = 0
    while !answers.decisions.isAtEnd, tag < 100 {
      disturb(session, answers)
      let accessUnit = MinimalStream.annexB(stream.nextAccessUnit(&fixed))
      if (try? session.decode(accessUnit.span, tag: tag, time: .milliseconds(40 * Int(tag)))) != nil { tag += 1 }
      if let fault = take(session, &results) { return fault }
    }
    session.drain()
    if let fault = take(session, &results) { return fault }
    guard results.count == Int(tag), results.values.allSatisfy({ $0 == 1 }) else {
      return "not one result for each access unit"
    }
    return nil
  }

  private static func disturb(_ session: DecompressionSession, _ answers: Answers) {
    switch answers.decisions.below(16) {
    case 15: session.flush()
    case 14: session.drain()
    case 13: session.skipFrames = answers.decisions.one(of: Array(SessionConfiguration.SkipFrames.allCases))
    default: break
    }
  }

  private static func take(_ session: DecompressionSession, _ results: inout [UInt64: Int]) -> String? {
    while let result = session.nextResult() {
      results[result.tag, default: 0] += 1
      // Reads each sample.
      guard case .frame(let picture) = result else { continue }
      _ = picture.copiedBytes()
      _ = session.readable(picture)?.copiedBytes()
      if let samples = picture.deviceSamples, !samples.hold(picture) { return "samples beyond a device's memory" }
    }
    return nil
  }
}

extension DeviceSamples {
  /// Whether all rows of the picture lie within the objects.
  fileprivate func hold(_ picture: DecodedPicture) -> Bool {
    let byteCount = objects.reduce(0) { $0 + $1.byteCount }
    return offsets.indices.allSatisfy { plane in
      let rowCount = picture.pixelFormat.rowCount(plane: plane, height: picture.height)
      let rowByteCount = picture.pixelFormat.rowByteCount(plane: plane, width: picture.width)
      return offsets[plane] >= 0 && offsets[plane] + strides[plane] * (rowCount - 1) + rowByteCount <= byteCount
    }
  }
}

/// The decisions that all processes of a session share.
private final class Answers {
  var decisions: ByteDecisions
  init(_ decisions: ByteDecisions) { self.decisions = decisions }

  /// Sends what decides the next command of a codec. Behind the end of the decisions a process is silent: a session
  /// gives up then.
  func send(to process: LyingProcess, youngest: UInt64) {
    process.discardCommands()
    for _ in 0..<decisions.below(6) {
      switch PeerMessage(&decisions, youngest: youngest) {
      case .replies(let replies): try? process.answer(replies)
      case .bytes(let bytes): try? process.send(bytes)
      case .surface(let reply, let memories):
        var writer = MessageWriter()
        reply.write(to: &writer)
        try? process.send(writer.bytes, descriptors: memories.map(\.rawValue))
        extendLifetime(memories)
      case .silence: return
      }
    }
    guard !decisions.isAtEnd else { return }
    try? process.answer([.finished(nil, CodecStatus(), consumedSlotCount: 0)])
  }
}

/// A codec whose process finds each command answered before it arrives.
private final class AnsweredCodec: CodecBoundary {
  private let process: LyingProcess
  private let codec: RemoteCodec
  private let answers: Answers

  init(_ settings: CodecSettings, _ bridge: PictureBridge, _ answers: Answers) throws(CodecFailure) {
    do throws(LinkError) {
      process = try LyingProcess()
    } catch { throw CodecFailure(.outOfMemory) }
    self.answers = answers
    answers.send(to: process, youngest: 0)
    do throws(AVError) {
      codec = try process.open(settings, bridge, timeout: .zero)
    } catch { throw CodecFailure(error) }
  }

  var status: CodecStatus { codec.status }
  var youngest: UInt64? { codec.youngest }

  func decode(_ packet: Packet, index: UInt64, report: (CodecEvent) -> Void) throws(AVError) {
    answers.send(to: process, youngest: index)
    try codec.decode(packet, index: index, report: report)
  }

  func drain(report: (CodecEvent) -> Void) throws(AVError) {
    answers.send(to: process, youngest: codec.youngest ?? 0)
    try codec.drain(report: report)
  }

  func samples(of surface: PictureSurface, width: Int, height: Int) throws(AVError) -> PictureMemory? {
    answers.send(to: process, youngest: codec.youngest ?? 0)
    return try codec.samples(of: surface, width: width, height: height)
  }

  func flush() { codec.flush() }
  func skip(_ pictures: CodecSettings.Skip) { codec.skip(pictures) }
}
