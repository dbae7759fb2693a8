// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CAVFormat

/// Keys and values, in order: metadata, or options (`AVDictionary`). Keys are compared without regard to case.
package struct MetadataDictionary: Sendable, Hashable {
  package struct Entry: Sendable, Hashable {
    package let key: String
    package let value: String
  }

  /// All entries. A key may be there more than once.
  package private(set) var entries: [Entry] = []

  package init() {}

  package init(_ entries: KeyValuePairs<String, String>) {
    self.entries = entries.map { Entry(key: $0.key, value: $0.value) }
  }

  /// The first value of a key. Setting it removes all others of the key; nil removes them all.
  package subscript(key key: String) -> String? {
    get { entries.first { Self.isSame($0.key, key) }?.value }
    set {
      let place = entries.firstIndex { Self.isSame($0.key, key) } ?? entries.count
      entries.removeAll { Self.isSame($0.key, key) }
      if let newValue { entries.insert(Entry(key: key, value: newValue), at: min(place, entries.count)) }
    }
  }

  private static func isSame(_ left: String, _ right: String) -> Bool {
    left.utf8.elementsEqual(right.utf8) { Self.lowercased($0) == Self.lowercased($1) }
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

  /// Copies a dictionary of libavutil. Bytes that are not UTF-8 become U+FFFD.
  init(copying dictionary: OpaquePointer?) {
    var entry: UnsafeMutablePointer<AVDictionaryEntry>?
    while let next = unsafe cav_dict_get(dictionary, "", entry, AV_DICT_IGNORE_SUFFIX) {
      unsafe entries.append(
        Entry(key: String(cString: next.pointee.key), value: String(cString: next.pointee.value)))
      unsafe entry = next
    }
  }

  /// A dictionary of libavutil, for the caller to free.
  ///
  /// - Throws: `AVError.outOfMemory`.
  func copied() throws(AVError) -> OpaquePointer? {
    var dictionary: OpaquePointer?
    for entry in entries {
      let code = unsafe cav_dict_set(&dictionary, entry.key, entry.value, AV_DICT_MULTIKEY)
      guard code >= 0 else {
        unsafe cav_dict_free(&dictionary)
        throw AVError(rawValue: code)
      }
    }
    return unsafe dictionary
  }
}
