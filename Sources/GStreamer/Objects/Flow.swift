// SPDX-License-Identifier: MPL-2.0
public import CGStreamer

/// The reason data flow stopped: a negative `GstFlowReturn` (gstpad.h). Success is no error, except for `dropped`.
public struct FlowError: RawRepresentable, Error, Hashable, Sendable {
  /// The `GstFlowReturn`.
  public let rawValue: Int32
  /// An error of this value, which must be below zero: others count as success.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// The pad is not linked.
  public static var notLinked: Self { Self(rawValue: -1) }
  /// The pad is flushing: stop quietly.
  public static var flushing: Self { Self(rawValue: -2) }
  /// No more data is wanted.
  public static var endOfStream: Self { Self(rawValue: -3) }
  /// Caps are missing, or negotiation failed.
  public static var notNegotiated: Self { Self(rawValue: -4) }
  /// A fatal error, for which the element has posted a message.
  public static var error: Self { Self(rawValue: -5) }
  /// The operation is not supported.
  public static var notSupported: Self { Self(rawValue: -6) }
  /// Not a failure: drops the buffer, a success for upstream. Thrown by the methods of ``BaseTransform`` and by
  /// ``BaseParse/prePushFrame(_:)`` (`GST_BASE_TRANSFORM_FLOW_DROPPED`, `GST_BASE_PARSE_FLOW_DROPPED`).
  public static var dropped: Self { Self(rawValue: 100) }

  /// Throws unless `flow` is success (`GST_FLOW_OK` or a custom success).
  public static func check(_ flow: GstFlowReturn) throws(FlowError) {
    if flow.rawValue < 0 { throw Self(rawValue: flow.rawValue) }
  }

  /// The `GstFlowReturn` of a call.
  @inlinable @inline(__always)
  static func code(_ body: () throws(FlowError) -> Void) -> GstFlowReturn {
    do throws(FlowError) {
      try body()
      return GST_FLOW_OK
    } catch {
      return GstFlowReturn(rawValue: error.rawValue)
    }
  }
}
