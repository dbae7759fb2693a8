// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// The flow of a stream that continues through several source pads, combined into one (`GstFlowCombiner`).
///
/// A branch that wants no more, or is not linked (yet), stops the others only when they are all like that.
///
/// ```swift
/// var flows = FlowCombiner()
/// for name in outputs { if let pad = pad(name) { flows.push(buffer.share(), through: pad) } }
/// try flows.check()
/// ```
///
/// An element that sends each buffer through one pad, such as a demultiplexer, keeps one combiner for the stream.
public struct FlowCombiner: Sendable {
  /// The last push's error for each pad, by the pad's name.
  private var flows: [String: FlowError?] = [:]

  /// Nothing was pushed.
  public init() {}

  /// Pushes a buffer through a source pad. An error of a pad that was deactivated meanwhile, as when it is released,
  /// does not count.
  public mutating func push(_ buffer: consuming Buffer, through pad: Pad) {
    do throws(FlowError) {
      try pad.push(buffer)
      flows[pad.name] = .some(nil)
    } catch {
      flows[pad.name] = error == .flushing && !pad.isActive ? nil : .some(error)
    }
  }

  /// Forgets a pad that was removed.
  public mutating func remove(_ pad: Pad) { flows[pad.name] = nil }

  /// Throws if upstream must stop: a failure or flushing of any pad; `endOfStream` or `notLinked` if no pad takes
  /// data any more.
  public func check() throws(FlowError) {
    let all = flows.values
    if let failure = all.first(where: { flow in flow.map { $0 != .endOfStream && $0 != .notLinked } ?? false }) {
      if let failure { throw failure }
    }
    guard !all.isEmpty, !all.contains(nil) else { return }
    throw all.contains(.endOfStream) ? .endOfStream : .notLinked
  }
}
