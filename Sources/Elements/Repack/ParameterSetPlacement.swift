// SPDX-License-Identifier: MPL-2.0

/// The destination of an access unit's parameter sets.
struct ParameterSetPlacement {
  /// Those to insert in front of it.
  var insertions: [[UInt8]] = []
  /// Its own are removed.
  var removesOwn = false
  /// `codec_data` may have to change before it.
  var changesCodecData = false
}
