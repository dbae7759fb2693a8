// SPDX-License-Identifier: MPL-2.0

/// Formats that this project does not read, recognized by the first bytes of a file, regardless of its name.
///
/// Some of them may hold H.264 or H.265, whose start codes would make them pass for byte streams.
package enum OtherFormat {
  /// The format's name for people, with an article if it needs one; nil for none of these.
  package static func name(of bytes: Span<UInt8>) -> StaticString? {
    if let signed = signedName(of: bytes) { return signed }
    // A program stream follows in most of them, which is read.
    if bytes.uint32(at: 0) == 0x494D_4B48 { return "a recording of a Hikvision camera (IMKH) without a program stream" }
    return videoName(of: bytes)
  }

  /// The name of a format with a signature, regardless of the bytes after it.
  static func signedName(of bytes: Span<UInt8>) -> StaticString? {
    guard let first = bytes.uint32(at: 0) else { return nil }
    if bytes.uint32(at: 257) == 0x7573_7461 { return "a tar archive" }
    return signedName(first, bytes.uint32(at: 4) ?? 0)
  }

  private static func signedName(_ first: UInt32, _ second: UInt32) -> StaticString? {
    switch (first, second) {
    case (0x8950_4E47, _): "a PNG picture"
    case (0x4749_4638, _): "a GIF picture"
    case (0x4949_2A00, _), (0x4D4D_002A, _): "a TIFF picture"
    case (0x0000_000C, 0x6A50_2020), (0xFF4F_FF51, _): "a JPEG 2000 picture"
    case (0x5955_5634, 0x4D50_4547): "YUV4MPEG, raw video"
    case (0x2550_4446, _): "a PDF document"
    case (0x504B_0304, _): "a ZIP archive"
    case (0x5261_7221, _): "a RAR archive"
    case (0x377A_BCAF, _): "a 7z archive"
    case (0xFD37_7A58, _): "an xz archive"
    case (0x28B5_2FFD, _): "a Zstandard archive"
    case (0x4F67_6753, _): "Ogg"
    case (0x5249_4646, _): "RIFF, such as WAV"
    case (0x3026_B275, 0x8E66_CF11): "ASF, such as WMV"
    case (0xB7D8_0020, 0x3749_DA11): "WTV"
    case (0x2E52_4D46, _): "RealMedia"
    case (0x664C_6143, _): "FLAC"
    case (0x464F_524D, _): "IFF, such as AIFF"
    case (0x7F45_4C46, _): "a program"
    case (0x6E75_742F, 0x6D75_6C74): "NUT"
    case (0x444B_4946, _): "IVF (VP8, VP9 or AV1)"
    case (0x060E_2B34, _): "MXF"
    case (0x0000_0000, 0x01BC_0000): "GXF"
    case (0x4C45_4954, 0x4348_0000): "LXF"
    case (0x4448_4156, _): "a recording of a Dahua camera (DHAV)"
    case (0x4858_5653, _), (0x4858_5646, _): "a recording of a Xiongmai camera (HXVS)"
    case (0x2321_7274, 0x7070_6C61): "an RTP dump (rtpdump)"
    case (0xD4C3_B2A1, _), (0xA1B2_C3D4, _), (0x4D3C_B2A1, _), (0xA1B2_3C4D, _), (0x0A0D_0D0A, _):
      "a capture of a network (pcap)"
    case (0x4242_4344, _): "Dirac or VC-2 video"
    case (0x1F07_0000...0x1F07_00FF, _): "DV"
    case (0xFFD8_FF00...0xFFD8_FFFF, _): "a JPEG picture"
    case (0x1F8B_0000...0x1F8B_FFFF, _): "a gzip archive"
    case (0x425A_6830...0x425A_6839, _): "a bzip2 archive"
    case (0x4944_3300...0x4944_33FF, _): "MP3"
    case (0x4D5A_0000...0x4D5A_FFFF, _): "a program"
    default: nil
    }
  }

  /// The name of a byte stream of another codec that begins with a header.
  private static func videoName(of bytes: Span<UInt8>) -> StaticString? {
    guard let start = leadingStartCode(in: bytes), let code = bytes.uint32(at: start) else { return nil }
    let next = bytes.uint32(at: start + 4) ?? 0
    switch code & 0xFF {
    case 0xB3, 0xB8: return "MPEG-1 or MPEG-2 video"
    case 0xB0, 0xB5: return "MPEG-4 part 2 or AVS video"
    // A video object, followed immediately by its layer, and a layer, whose first bits are 0.
    case 0...0x1F where next == 0x0000_0120, 0x20 where next >> 24 & 7 == 0: return "MPEG-4 part 2 video"
    // A sequence header of the advanced profile.
    case 0x0F where next >> 30 == 3: return "VC-1 video"
    // Parameter sets or a delimiter of the lowest temporal sub-layer.
    case 0 where [0x61, 0x69, 0x71, 0x79, 0x81, 0xA1].contains(next >> 24): return "H.266 video"
    default: return nil
    }
  }

  /// The place of a start code that only zeros precede; nil without one.
  private static func leadingStartCode(in bytes: Span<UInt8>) -> Int? {
    var zeros = 0
    while zeros < bytes.count, bytes[zeros] == 0 { zeros += 1 }
    return zeros >= 2 && zeros < bytes.count && bytes[zeros] == 1 ? zeros - 2 : nil
  }
}
