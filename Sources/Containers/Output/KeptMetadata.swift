// SPDX-License-Identifier: MPL-2.0
package import AVFormat

extension MetadataDictionary {
  /// The metadata that is true of a copy too.
  package var kept: MetadataDictionary {
    var kept = MetadataDictionary()
    for entry in entries where !Self.own.contains(entry.key.lowercased()) { kept[key: entry.key] = entry.value }
    return kept
  }

  /// Keys of metadata that muxers write about themselves and the file.
  package static let own: Set = ["major_brand", "minor_version", "compatible_brands", "encoder", "duration"]
}
