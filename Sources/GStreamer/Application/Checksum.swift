// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A checksum of bytes that come piece by piece (`GChecksum`).
@safe package struct Checksum: ~Copyable {
  /// The algorithm.
  package enum Algorithm: Sendable {
    /// RFC 1321.
    case md5
    /// FIPS 180-4.
    case sha256

    fileprivate var raw: GChecksumType { self == .md5 ? G_CHECKSUM_MD5 : G_CHECKSUM_SHA256 }
  }

  private let raw: OpaquePointer

  /// The checksum of no bytes yet.
  package init(_ algorithm: Algorithm) {
    // GLib has these two wherever it is: it returns NULL for numbers of no algorithm only.
    unsafe raw = g_checksum_new(algorithm.raw)
  }

  deinit { unsafe g_checksum_free(raw) }

  /// Adds bytes. Nothing is added after ``digits`` was read.
  package mutating func add(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBufferPointer { unsafe g_checksum_update(raw, $0.baseAddress, gssize($0.count)) }
  }

  /// The sum in hexadecimal digits, in lower case.
  package var digits: String { unsafe String(cString: g_checksum_get_string(raw)) }

  /// Begins again with no bytes.
  package mutating func reset() { unsafe g_checksum_reset(raw) }
}
