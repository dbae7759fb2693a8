// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import Foundation
import Synchronization
import TestSupport
import Testing

/// Many pipelines in one process that are started, seeked, flushed and stopped at random times.
///
/// `HARDENING_LIVES` sets how often each of 64 threads does so; three times without it.
@Suite(.serialized) struct ConcurrencyTests {
  init() { #expect(Registration.succeeded) }

  private static let chains = [
    "swifth264parse ! fakesink sync=false",
    "swifth264parse ! swifth264repack ! video/x-h264,stream-format=avc ! fakesink sync=false",
    "swifth264parse ! swifth264dec ! fakesink sync=false",
    "swifth264parse ! swifth264dec max-threads=1 ! video/x-raw,format=NV12 ! fakesink sync=false",
    "swifth264parse ! swifth264repack ! video/x-h264,stream-format=avc3 ! queue ! swifth264dec ! fakesink sync=false",
  ]

  @Test func freesPipelines() async throws {
    let lives = ProcessInfo.processInfo.environment["HARDENING_LIVES"].flatMap(Int.init) ?? 3
    let outcome = Outcome()
    // Own threads: the concurrency pool has one per processor, and 64 pipelines run at once.
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      let left = Left(64, done)
      for number in 0..<64 {
        Thread.detachNewThread {
          Self.live(seed: UInt64(number), times: lives, outcome)
          left.leave()
        }
      }
    }
    #expect(outcome.errors.withLock { $0 } == [])
    #expect(outcome.lives.load(ordering: .relaxed) == 64 * lives)
  }

  private final class Outcome: Sendable {
    let lives = Atomic<Int>(0)
    let errors = Mutex<[String]>([])
  }

  /// Resumes the test when the last thread has ended.
  private final class Left: Sendable {
    private let count: Atomic<Int>
    private let done: CheckedContinuation<Void, Never>
    init(_ count: Int, _ done: CheckedContinuation<Void, Never>) {
      self.count = Atomic(count)
      self.done = done
    }
    func leave() {
      if count.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done.resume() }
    }
  }

  private static func live(seed: UInt64, times: Int, _ outcome: Outcome) {
    var random = SeededGenerator(state: seed)
    for _ in 0..<times {
      let codec = StreamCodec.allCases.randomElement(using: &random) ?? .h264
      let chain = codec.chain(chains.randomElement(using: &random) ?? chains[0])
      guard
        let pipeline = unsafe gst_parse_launch("filesrc location=\(Clip.path("clip.\(codec)")) ! \(chain)", nil)
      else {
        outcome.errors.withLock { $0.append("cannot launch \(chain)") }
        return
      }
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        switch UInt8.random(in: 0..<6, using: &random) {
        case 0: unsafe gst_element_set_state(pipeline, GST_STATE_PAUSED)
        case 1: unsafe gst_element_set_state(pipeline, GST_STATE_READY)
        case 2:
          let position = gint64(Int64.random(in: 0...2_000_000_000, using: &random))
          unsafe gst_element_seek_simple(pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, position)
        default: unsafe gst_element_set_state(pipeline, GST_STATE_PLAYING)
        }
        usleep(UInt32.random(in: 0...30_000, using: &random))
      }
      if let error = unsafe takeError(pipeline), !isOfTakingDown(error) {
        outcome.errors.withLock { $0.append("\(chain): \(error)") }
      }
      unsafe gst_element_set_state(pipeline, GST_STATE_NULL)
      unsafe gst_object_unref(pipeline)
      outcome.lives.wrappingAdd(1, ordering: .relaxed)
    }
  }

  /// An element that is just being taken down or flushed refuses a caps event. The pad then answers the buffer behind
  /// it with "error" or "not-negotiated" in place of "flushing" (the core, on sticky events). The base class posts its
  /// general error about that. Our elements post an error of their own before they answer so.
  private static func isOfTakingDown(_ error: String) -> Bool {
    error.contains("gst_base_parse_loop") && error.contains(/reason (error|not-negotiated) \(-[45]\)/)
  }

  @unsafe private static func takeError(_ pipeline: UnsafeMutablePointer<GstElement>) -> String? {
    guard let bus = unsafe gst_element_get_bus(pipeline) else { return nil }
    defer { unsafe gst_object_unref(bus) }
    guard let message = unsafe gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR) else { return nil }
    defer { unsafe gst_message_unref(message) }
    var error: UnsafeMutablePointer<GError>?
    var debug: UnsafeMutablePointer<CChar>?
    unsafe gst_message_parse_error(message, &error, &debug)
    defer {
      unsafe g_error_free(error)
      unsafe g_free(debug)
    }
    let details = unsafe debug.map { unsafe String(cString: $0) } ?? ""
    return unsafe error.map { unsafe "\(String(cString: $0.pointee.message)) \(details)" } ?? "an error without text"
  }
}
