// SPDX-License-Identifier: MPL-2.0

/// Where the parameter sets of an access unit go.
struct ParameterSetPlacement {
  /// Those to insert in front of it.
  var insertions: [[UInt8]] = []
  /// Its own are removed.
  var removesOwn = false
  /// `codec_data` may have to change before it.
  var changesCodecData = false
}
