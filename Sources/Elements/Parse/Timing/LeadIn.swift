// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// How much earlier than its target an accurate seek begins.
struct LeadIn {
  let rate: Fraction
  let frames: UInt32
}
