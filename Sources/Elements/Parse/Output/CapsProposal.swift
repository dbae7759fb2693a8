// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// Caps to send, as far as they can be made without a query to downstream.
struct CapsProposal: ~Copyable {
  var caps: Caps
  /// The configuration record in them; empty when they have none.
  let codecData: [UInt8]
  /// Other profiles that the stream conforms to, for a downstream that refuses its own.
  let compatibleProfiles: [String]
  /// Latency of the parser: a frame, or zero if no frame rate gives its duration.
  let latency: ClockTime
}

/// The change that proposed caps bring.
enum CapsChange {
  /// They are those that were sent before.
  case none
  /// Only `codec_data` has changed: in mid-stream new caps would make a decoder drain and restart, so the parameter
  /// sets go in-band.
  case inBand
  /// They are sent.
  case caps
}
