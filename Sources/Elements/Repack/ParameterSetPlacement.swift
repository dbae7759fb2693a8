// SPDX-License-Identifier: MPL-2.0

/// Where the parameter sets go that an access unit needs.
struct ParameterSetPlacement {
  /// Those to be put in front of it.
  var insertions: [[UInt8]] = []
  /// Its own are taken out.
  var removesOwn = false
  /// `codec_data` may have to change before it.
  var changesCodecData = false
}
