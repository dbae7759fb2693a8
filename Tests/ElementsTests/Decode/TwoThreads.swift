// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import Glibc
import HarnessSupport

/// Pushes on one thread and flushes on another, as an application with an appsrc does.
final class TwoThreads: @unchecked Sendable {
  private let harness: Harness
  private let streams: [(caps: String, units: [[UInt8]])]
  /// The index of the current stream.
  private let current = Locked(0)
  private let stopped = Locked(false)
  /// Held while a buffer is pushed: a flush waits until the push has returned, as in every source.
  private let pushing = Locked(())

  /// - Parameter streams: caps and access units; each flush switches to the next one.
  init(harness: Harness, streams: [(caps: String, units: [[UInt8]])]) {
    self.harness = harness
    self.streams = streams
  }

  private func pushNext(_ number: Int) {
    pushing.withLock { _ in
      let units = streams[current.snapshot].units
      harness.push(units[number % units.count])
    }
  }

  func run(rounds: Int) {
    var thread = pthread_t()
    let context = unsafe Unmanaged.passRetained(self).toOpaque()
    unsafe pthread_create(
      &thread, nil,
      { context in
        guard let context = unsafe context else { return nil }
        let this = unsafe Unmanaged<TwoThreads>.fromOpaque(context).takeRetainedValue()
        var number = 0
        while !this.stopped.snapshot {
          this.pushNext(number)
          number += 1
        }
        return nil
      }, context)
    for round in 0..<rounds {
      usleep(useconds_t(round % 5) * 1500)
      harness.push(unsafe Event(owning: gst_event_new_flush_start()))
      pushing.withLock { _ in
        harness.push(unsafe Event(owning: gst_event_new_flush_stop(1)))
        var segment = GstSegment()
        unsafe gst_segment_init(&segment, GST_FORMAT_TIME)
        if streams.count > 1 {
          let next = (round + 1) % streams.count
          current.withLock { $0 = next }
          harness.setInputCaps(streams[next].caps)
        }
        harness.push(unsafe Event(owning: gst_event_new_segment(&segment)))
      }
    }
    stopped.withLock { $0 = true }
    pthread_join(thread, nil)
    while harness.tryPull() != nil {}
  }
}
