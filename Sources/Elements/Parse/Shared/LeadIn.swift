// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// The distance between an accurate seek's start and its target.
struct LeadIn {
  let rate: Fraction
  let frames: UInt32
}
