// SPDX-License-Identifier: MPL-2.0

extension DolbyVision {
  /// `vdr_dm_data_payload()` (ETSI GS CCM 001, 5.3.4): metadata by which displays adapt the picture.
  public struct DisplayManagement: Sendable, Hashable {
    /// `affected_dm_metadata_id`, 0 to 15.
    public var affectedID: UInt32
    /// `current_dm_metadata_id`, 0 to 15.
    public var currentID: UInt32
    /// `scene_refresh_flag`: 1 in the first picture of a scene.
    public var sceneRefresh: UInt32
    /// Matrices and source; nil if they are left out, which ``Header/LayerInformation/compression`` tells.
    public var source: Source?
    /// The blocks of the first payload: levels 1, 2, 4, 5, 6 and 255 (content mapping 2.9).
    public var blocks: [MetadataBlock]
    /// The blocks of the second payload: levels 3, 8 to 11 and 254 (content mapping 4.0); nil without one.
    public var newerBlocks: [MetadataBlock]?

    /// How the picture becomes linear light, and the display on which it was graded.
    public struct Source: Sendable, Hashable {
      /// `ycc_to_rgb_coef`: nine, row by row, in steps of 2⁻¹³.
      public var yccToRGB: [Int16]
      /// `ycc_to_rgb_offset`: three, in steps of 2⁻²⁸.
      public var yccToRGBOffset: [UInt32]
      /// `rgb_to_lms_coef`: nine, row by row, in steps of 2⁻¹⁴.
      public var rgbToLMS: [Int16]
      /// `signal_eotf`; 0xFFFF for PQ.
      public var eotf: UInt16
      /// `signal_eotf_param0`.
      public var eotfParameter0: UInt16
      /// `signal_eotf_param1`.
      public var eotfParameter1: UInt16
      /// `signal_eotf_param2`.
      public var eotfParameter2: UInt32
      /// `signal_bit_depth`, 0 to 31; 8 to 16 are legal.
      public var bitDepth: UInt8
      /// `signal_color_space`, 0 to 3: 0 YCbCr, 1 RGB, 2 IPT.
      public var colourSpace: UInt8
      /// `signal_chroma_format`, 0 to 3: 0 4:2:0, 1 4:2:2, 2 4:4:4.
      public var chromaFormat: UInt8
      /// `signal_full_range_flag`, 0 to 3: 0 narrow, 1 full, 2 SDI.
      public var range: UInt8
      /// `source_min_PQ`, 0 to 4095.
      public var minimumPQ: UInt16
      /// `source_max_PQ`, 0 to 4095.
      public var maximumPQ: UInt16
      /// `source_diagonal`, in inches, 0 to 1023.
      public var diagonal: UInt16

      /// Creates the source of profile 8.1: BT.2020 with PQ, narrow range.
      ///
      /// - Parameters:
      ///   - minimumPQ: of the mastering display.
      ///   - maximumPQ: of the mastering display.
      public init(minimumPQ: UInt16, maximumPQ: UInt16) {
        (yccToRGB, yccToRGBOffset, rgbToLMS) = Self.hdr10
        (eotf, eotfParameter0, eotfParameter1, eotfParameter2) = (0xFFFF, 0, 0, 0)
        (bitDepth, colourSpace, chromaFormat, range) = (12, 0, 0, 0)
        self.minimumPQ = minimumPQ
        self.maximumPQ = maximumPQ
        diagonal = 42
      }

      /// The matrices of BT.2020 in narrow range, as a base layer of HDR10 needs them.
      static var hdr10: (yccToRGB: [Int16], offset: [UInt32], rgbToLMS: [Int16]) {
        (
          [9574, 0, 13_802, 9574, -1540, -5348, 9574, 17_610, 0], [16_777_216, 134_217_728, 134_217_728],
          [7222, 8771, 390, 2654, 12_430, 1300, 0, 422, 15_962]
        )
      }

      init(_ reader: inout BitReader) throws(BitstreamError) {
        (yccToRGB, yccToRGBOffset, rgbToLMS) = ([], [], [])
        for _ in 0..<9 { yccToRGB.append(Int16(bitPattern: try reader.u16("ycc_to_rgb_coef"))) }
        for _ in 0..<3 { yccToRGBOffset.append(try reader.u(32, "ycc_to_rgb_offset")) }
        for _ in 0..<9 { rgbToLMS.append(Int16(bitPattern: try reader.u16("rgb_to_lms_coef"))) }
        eotf = try reader.u16("signal_eotf")
        eotfParameter0 = try reader.u16("signal_eotf_param0")
        eotfParameter1 = try reader.u16("signal_eotf_param1")
        eotfParameter2 = try reader.u(32, "signal_eotf_param2")
        bitDepth = try reader.u8(5, "signal_bit_depth")
        colourSpace = try reader.u8(2, "signal_color_space")
        chromaFormat = try reader.u8(2, "signal_chroma_format")
        range = try reader.u8(2, "signal_full_range_flag")
        minimumPQ = UInt16(truncatingIfNeeded: try reader.u(12, "source_min_PQ"))
        maximumPQ = UInt16(truncatingIfNeeded: try reader.u(12, "source_max_PQ"))
        diagonal = UInt16(truncatingIfNeeded: try reader.u(10, "source_diagonal"))
      }

      func write(to writer: inout BitWriter) throws(BitstreamError) {
        guard yccToRGB.count == 9, yccToRGBOffset.count == 3, rgbToLMS.count == 9 else {
          throw BitstreamError(.valueOutOfRange, "ycc_to_rgb_coef", bitOffset: writer.bitCount)
        }
        for coefficient in yccToRGB { writer.u(16, UInt32(UInt16(bitPattern: coefficient))) }
        for offset in yccToRGBOffset { writer.u(32, offset) }
        for coefficient in rgbToLMS { writer.u(16, UInt32(UInt16(bitPattern: coefficient))) }
        writer.u(16, UInt32(eotf))
        writer.u(16, UInt32(eotfParameter0))
        writer.u(16, UInt32(eotfParameter1))
        writer.u(32, eotfParameter2)
        writer.u(5, UInt32(bitDepth))
        writer.u(2, UInt32(colourSpace))
        writer.u(2, UInt32(chromaFormat))
        writer.u(2, UInt32(range))
        writer.u(12, UInt32(minimumPQ))
        writer.u(12, UInt32(maximumPQ))
        writer.u(10, UInt32(diagonal))
      }
    }

    /// Creates metadata without blocks.
    public init(source: Source?) {
      (affectedID, currentID, sceneRefresh) = (0, 0, 0)
      self.source = source
      blocks = []
    }

    /// - Throws: `.unsupported` for a compression whose syntax is not public.
    init(_ reader: inout BitReader, _ header: Header) throws(BitstreamError) {
      let compression = header.sequence?.layers?.compression ?? 0
      guard compression <= 1 else {
        throw BitstreamError(.unsupported, "reserved_zero_3bits", bitOffset: reader.bitOffset)
      }
      affectedID = try reader.ue(in: 0...UInt32.max - 1, "affected_dm_metadata_id")
      currentID = try reader.ue(in: 0...UInt32.max - 1, "current_dm_metadata_id")
      sceneRefresh = try reader.ue(in: 0...UInt32.max - 1, "scene_refresh_flag")
      source = compression == 0 ? try Source(&reader) : nil
      blocks = try Self.blocks(&reader)
      // The second payload has at least a block of level 254. Fewer bits are alignment.
      guard reader.remainingBits >= 16 else { return }
      let start = reader
      do throws(BitstreamError) {
        newerBlocks = try Self.blocks(&reader)
      } catch {
        // Other data may be in its place.
        reader = start
      }
    }

    private static func blocks(_ reader: inout BitReader) throws(BitstreamError) -> [MetadataBlock] {
      let count = try reader.ue(in: 0...255, "num_ext_blocks")
      while !reader.isByteAligned {
        let place = reader.bitOffset
        guard try !reader.flag("dm_alignment_zero_bit") else {
          throw BitstreamError(.unsupported, "dm_alignment_zero_bit", bitOffset: place)
        }
      }
      var blocks: [MetadataBlock] = []
      for _ in 0..<count { blocks.append(try MetadataBlock(&reader)) }
      return blocks
    }

    /// - Throws: `.valueOutOfRange` for more than 255 blocks, or if header and source do not fit.
    func write(to writer: inout BitWriter, _ header: Header) throws(BitstreamError) {
      let isCompressed = header.sequence?.layers?.compression == 1
      guard isCompressed == (source == nil) else {
        throw BitstreamError(.valueOutOfRange, "reserved_zero_3bits", bitOffset: writer.bitCount)
      }
      writer.ue(affectedID)
      writer.ue(currentID)
      writer.ue(sceneRefresh)
      try source?.write(to: &writer)
      try Self.write(blocks, to: &writer)
      if let newerBlocks { try Self.write(newerBlocks, to: &writer) }
    }

    private static func write(_ blocks: [MetadataBlock], to writer: inout BitWriter) throws(BitstreamError) {
      guard blocks.count <= 255 else {
        throw BitstreamError(.valueOutOfRange, "num_ext_blocks", bitOffset: writer.bitCount)
      }
      writer.ue(UInt32(blocks.count))
      writer.align()
      for block in blocks { block.write(to: &writer) }
    }

    /// All blocks, those of the first payload first.
    public var allBlocks: [MetadataBlock] { blocks + (newerBlocks ?? []) }
  }
}
