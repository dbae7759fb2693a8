// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// A force-key-unit request that has not been answered yet.
struct KeyUnitRequest: Sendable {
  var request: ForceKeyUnit
  var sequenceNumber: UInt32
}
