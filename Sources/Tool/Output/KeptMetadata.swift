// SPDX-License-Identifier: MPL-2.0
import AVFormat

extension MetadataDictionary {
  /// What is true of a copy too.
  var kept: MetadataDictionary {
    var kept = MetadataDictionary()
    for entry in entries where !Self.own.contains(entry.key.lowercased()) { kept[key: entry.key] = entry.value }
    return kept
  }

  /// What muxers write of themselves, and of the file.
  static let own: Set = ["major_brand", "minor_version", "compatible_brands", "encoder", "duration"]
}
