// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport

/// For each rule a stream that breaks it and no other.
extension RuleTests {
  /// A VUI with `aspect_ratio_idc` alone.
  static func aspectRatio(_ idc: UInt32) -> (inout BitWriter) -> Void {
    { writer in
      writer.u(2, 3)
      writer.u(8, idc)
      writer.u(8, 0)
    }
  }

  /// A VUI with restrictions alone.
  static func restriction(denominator: UInt32) -> (inout BitWriter) -> Void {
    { writer in
      writer.u(1, 1)
      writer.u(8, 0)
      writer.u(2, 3)
      for value in [denominator, 1, 10, 10, 1, 2] { writer.ue(value) }
    }
  }

  /// A VUI with timing alone.
  static func timing(units: UInt32, scale: UInt32) -> (inout BitWriter) -> Void {
    { writer in
      writer.flag(true)
      writer.u(4, 0)
      writer.flag(true)
      writer.u(32, units)
      writer.u(32, scale)
      writer.u(5, 0)
    }
  }

  static func two(_ change: (inout MP4TestFile) -> Void) -> MP4TestFile {
    var file = MP4TestFile(two())
    change(&file)
    return file
  }

  /// A VUI with `max_num_reorder_frames` and `max_dec_frame_buffering`.
  static func restriction(reorder: UInt32, buffering: UInt32) -> (inout BitWriter) -> Void {
    { writer in
      writer.flag(true)
      // No aspect, overscan, signal, chroma, timing, HRD (two), structure.
      writer.u(8, 0)
      writer.flag(true)
      writer.flag(true)
      for value in [0, 0, 10, 10, reorder, buffering] { writer.ue(value) }
    }
  }

  /// A VUI with a fixed rate, 25 frames a second unless `scale` is another than 50.
  static func rate(scale: UInt32 = 50) -> (inout BitWriter) -> Void {
    { writer in
      writer.flag(true)
      writer.u(4, 0)
      writer.flag(true)
      writer.u(32, 1)
      writer.u(32, scale)
      writer.flag(true)
      writer.u(4, 0)
    }
  }

  /// A VUI with primaries, transfer and matrix of BT.709.
  static func colour(_ writer: inout BitWriter) {
    writer.flag(true)
    writer.u(2, 0)
    writer.flag(true)
    writer.u(4, 0b1010)
    writer.flag(true)
    for _ in 0..<3 { writer.u(8, 1) }
    writer.u(6, 0)
  }

  /// A VUI with timing, 25 frames a second, and NAL HRD parameters of one buffer.
  static func hrd(bitRate: UInt32, size: UInt32, isConstant: Bool = false) -> (inout BitWriter) -> Void {
    { writer in
      writer.flag(true)
      writer.u(4, 0)
      writer.flag(true)
      writer.u(32, 1)
      writer.u(32, 50)
      writer.flag(true)
      writer.flag(true)
      writer.ue(0)
      writer.u(8, 0)
      writer.ue(bitRate - 1)
      writer.ue(size - 1)
      writer.flag(isConstant)
      for _ in 0..<4 { writer.u(5, 23) }
      writer.flag(false)
      writer.flag(false)
      writer.u(2, 0)
    }
  }

  /// A buffering period SEI with a delay of 24 bits, in ticks of 90 kHz.
  static func period(_ delay: UInt32) -> [UInt8] {
    var writer = BitWriter(addsEmulationPrevention: false)
    writer.ue(0)
    writer.u(24, delay)
    writer.u(24, 0)
    if !writer.isByteAligned { writer.trailingBits() }
    return seiNALUnit([(type: .bufferingPeriod, payload: writer.bytes)])
  }

  static func withPeriod(
    bitRate: UInt32, size: UInt32, delay: UInt32, payload: Int, isConstant: Bool = false
  ) -> TestStream {
    var stream = TestStream(.init(vui: hrd(bitRate: bitRate, size: size, isConstant: isConstant)))
    stream.nalUnits.insert(period(delay), at: 2)
    return stream.adding(.init(frameNumber: 1, order: 2, payload: payload))
  }

  /// Frames of a 25th of a second by the VUI, and of `ticks` 2500ths by the container.
  static func even(ticks: UInt32) -> MP4TestFile {
    var stream = TestStream(.init(vui: rate()))
    for number in UInt32(1)..<16 { stream = stream.adding(.init(frameNumber: number, order: 2 * number)) }
    var file = MP4TestFile(stream)
    file.duration = ticks
    return file
  }

  static let cases: [Case] = [
    // NAL units.
    Case(.garbage, bytes: [0x12, 0x34] + TestStream().bytes),
    Case(.forbiddenBit, stream: TestStream().adding([0x80 | 12, 0xFF, 0x80])),
    Case(
      .reservedType, stream: TestStream().adding([0x12, 0xFF, 0x80], TestStream.slice(.init(frameNumber: 1, order: 2)))),
    Case(.referenceIDC, stream: TestStream().adding([0x6C, 0xFF, 0x80])),
    Case(.emulationPrevention, bytes: TestStream().adding([0x0C, 0xFF, 0, 0, 2, 0xFF, 0x80]).bytes),
    Case(.trailingBits, stream: TestStream().adding([9, 0xF8], TestStream.slice(.init(frameNumber: 1, order: 2)))),
    Case(
      .order,
      stream: TestStream().adding(TestStream.pps(), [9, 0xF0], TestStream.slice(.init(frameNumber: 1, order: 2)))),
    Case(.noPicture, stream: TestStream().adding([9, 0xF0])),
    Case(.endOfStream, stream: TestStream().adding([10], TestStream.slice(.init(frameNumber: 1, order: 2)))),
    // Parameter sets.
    Case(
      .unreadableParameterSet,
      stream: TestStream().adding([0x67, 77], TestStream.slice(.init(frameNumber: 1, order: 2)))),
    Case(.missingParameterSet, stream: TestStream().adding(.init(frameNumber: 1, order: 2, pps: 7))),
    Case(.reservedValue, stream: TestStream(.init(flags: 1))),
    Case(.reservedValue, stream: TestStream(.init(vui: aspectRatio(17)))),
    Case(.reservedValue, stream: TestStream(.init(vui: aspectRatio(254)))),
    Case(.reservedValue, stream: TestStream(.init(vui: timing(units: 0, scale: 50)))),
    Case(.reservedValue, stream: TestStream(.init(vui: timing(units: 1, scale: 0)))),
    Case(
      .reservedValue,
      stream: TestStream().adding(
        TestStream.pps(weightedBiprediction: 3), TestStream.slice(.init(frameNumber: 1, order: 2)))),
    Case(
      .reservedValue,
      stream: TestStream().adding(
        TestStream.pps(initialQS: 26), TestStream.slice(.init(frameNumber: 1, order: 2)))),
    Case(
      .reservedValue,
      stream: TestStream().adding(
        TestStream.pps(initialQS: -1000), TestStream.slice(.init(frameNumber: 1, order: 2)))),
    Case(
      .reservedValue,
      h265: H265TestStream(
        sps: H265TestStream.sps {
          $0.vui = H265.VUIParameters()
          $0.vui?.bitstreamRestriction = H265.VUIParameters.BitstreamRestriction()
          $0.vui?.bitstreamRestriction?.minimumSpatialSegmentation = 4096
        })),
    Case(.reservedValue, stream: TestStream(.init(vui: restriction(denominator: 17)))),
    Case(
      .unreadableSlice,
      stream: TestStream(isCABAC: true).adding(.init(frameNumber: 1, order: 2, qp: 1, alignment: false))),
    Case(
      .sliceData,
      deep: .readable { writer in
        TestStream.intra(3)(&writer)
        writer.ue(26)
      }),
    Case(
      .missingBlocks,
      deep: .readable().adding(.init(frameNumber: 1, order: 2, data: TestStream.skipped(2)))),
    // Level 3 has ±256 samples for vectors, ±512 for differences.
    Case(
      .vectorDifference,
      deep: .readable().adding(.init(frameNumber: 1, order: 2, data: TestStream.moved(0, 2048, behind: 3)))),
    Case(
      .bipredictionSize,
      deep: .readable(in: .init(level: 31)).adding(
        .init(frameNumber: 1, order: 4, data: TestStream.skipped(4)),
        .init(type: 1, frameNumber: 2, order: 2, reference: 0, data: TestStream.bipredicted))),
    Case(.blockBits, deep: .readable(TestStream.crowded)),
    Case(.binCount, deep: .dense(1)),
    Case(
      .levelTiles,
      h265: .tiled(
        columns: 2,
        sps: H265TestStream.sps {
          $0.codedSize = VideoSize(width: 512, height: 128)
          $0.profileTierLevel.levelIDC = 60
        })),
    Case(.profileTool, h265: .tiled(columns: 2)),
    Case(
      .sliceMismatch,
      stream: TestStream().adding(
        .init(type: 1, frameNumber: 1, order: 2, isTypeOfWholePicture: true),
        .init(type: 0, frameNumber: 1, order: 2, first: 1, isTypeOfWholePicture: true))),
    Case(
      .reservedValue,
      h265: H265TestStream(sps: H265TestStream.sps { $0.codedSize = VideoSize(width: 252, height: 128) })),
    Case(
      .temporalID,
      h265: H265TestStream().adding(.init(order: 1, references: [1], temporalID: 1))),
    Case(.unknownLevel, stream: TestStream(.init(level: 77))),
    Case(.unknownProfile, stream: TestStream(.init(profile: 99))),
    Case(.unreadableParameterSet, .missingParameterSet, stream: TestStream(.init(crop: 16))),
    Case(
      .setActivation,
      stream: TestStream().adding(TestStream.sps(.init(level: 31)), TestStream.slice(.init(frameNumber: 1, order: 2)))),
    Case(
      .setActivation,
      h265: H265TestStream().adding(H265TestStream.sps { $0.profileTierLevel.levelIDC = 120 }).adding(
        .init(order: 1, references: [1]))),
    // Slices and pictures.
    Case(.unreadableSlice, stream: TestStream().adding([0x41, 0x00])),
    Case(.sliceOrder, stream: TestStream().adding(.init(frameNumber: 1, order: 2, first: 2))),
    Case(.quantization, stream: TestStream().adding(.init(frameNumber: 1, order: 2, qp: 40))),
    Case(.frameNumberGap, stream: TestStream().adding(.init(type: 2, frameNumber: 3, order: 2))),
    Case(.frameNumberRepeated, stream: TestStream().adding(.init(type: 2, frameNumber: 0, order: 2))),
    Case(.idrPictureID, stream: TestStream().adding(.init(isIDR: true, type: 2), .init(isIDR: true, type: 2))),
    Case(.pictureOrderRepeated, stream: TestStream().adding(.init(frameNumber: 1, order: 0))),
    Case(.missingReference, stream: TestStream().adding(.init(frameNumber: 1, order: 2, names: 5))),
    Case(.missingMarked, stream: TestStream().adding(.init(frameNumber: 1, order: 2, unmarks: 5))),
    Case(
      .startsLate,
      bytes: TestStream().adding(.init(type: 2, frameNumber: 1, order: 2)).nalUnits.enumerated()
        .filter { $0.offset != 2 }.flatMap { [0, 0, 1] + $0.element }),
    Case(
      .unreadableSEI, stream: TestStream().adding([6, 6, 9, 0x80], TestStream.slice(.init(frameNumber: 1, order: 2)))),
    Case(.missingTimingSEI, stream: TestStream(.init(vui: hrd(bitRate: 1000, size: 1000)))),
    // Delimiters of an I picture before P, and of a P picture before B.
    Case(.pictureType, stream: TestStream().adding([9, 0x10], TestStream.slice(.init(frameNumber: 1, order: 2)))),
    Case(
      .pictureType,
      h265: H265TestStream().adding(
        [35 << 1, 1, 0x30], H265TestStream.slice(.init(type: .trailingN, order: 1, kind: 0, references: [1])))),
    // Captions and dynamic metadata.
    Case(.rpuCRC, h265: H265TestStream().adding(MetadataNALUnits.damagedRPU)),
    Case(.rpuCRC, h265: H265TestStream().adding(Array(MetadataNALUnits.rpu.dropLast(2)) + [0xFF])),
    Case(
      .rpuMissing, h265: H265TestStream().adding(MetadataNALUnits.rpu).adding(.init(order: 1, references: [1]))),
    Case(
      .rpuMissing, h265: H265TestStream().adding(.init(order: 1, references: [1])).adding(MetadataNALUnits.rpu)),
    Case(.rpuRepeated, h265: H265TestStream().adding(MetadataNALUnits.rpu, MetadataNALUnits.rpu)),
    Case(.rpuAfterEnd, h265: H265TestStream().adding(H265TestStream.endOfSequence, MetadataNALUnits.rpu)),
    Case(.rpuAfterEnd, stream: TestStream().adding([10], MetadataNALUnits.rpuOfH264)),
    Case(
      .hdr10PlusWithoutMasteringDisplay,
      h265: {
        var stream = H265TestStream()
        stream.nalUnits.insert(MetadataNALUnits.hdr10Plus, at: 3)
        return stream
      }()),
    Case(
      .unreadableSEI,
      h265: {
        var stream = H265TestStream()
        stream.nalUnits.insert(MetadataNALUnits.damagedCaptions, at: 3)
        return stream
      }()),
    Case(.captionCount, stream: MetadataNALUnits.captioned(count: 23, vui: rate())),
    Case(.captionOrder, h265: MetadataNALUnits.captioned(inDecodingOrder: true)),
    Case(.dolbyVisionRecord, mp4: MetadataNALUnits.file(.init(profile: 8, level: 1, compatibilityID: 2))),
    Case(
      .dolbyVisionRecord,
      mp4: MetadataNALUnits.file(.init(profile: 9, level: 1, hasEnhancementLayer: true, compatibilityID: 2))),
    Case(
      .dolbyVisionRecord, mp4: MetadataNALUnits.file(.init(profile: 9, level: 1, compatibilityID: 1), vui: colour)),
    Case(.dolbyVisionRecord, mp4: two { $0.dolbyVision = .init(profile: 9, level: 1, compatibilityID: 2) }),
    // Levels and profiles.
    Case(.levelFrameSize, stream: TestStream(.init(level: 10, width: 11, height: 10, references: 1))),
    Case(
      .levelRate,
      stream: TestStream(
        .init(
          level: 10, width: 9, height: 11, references: 1,
          vui: rate(scale: 120)))),
    // 25 frames a second of 99 macroblocks; level 1 allows 15.
    Case(
      .levelMeasuredRate,
      mp4: {
        var stream = TestStream(.init(level: 10, width: 9, height: 11, references: 1))
        for number in UInt32(1)..<25 { stream = stream.adding(.init(frameNumber: number % 16, order: 2 * number)) }
        var file = MP4TestFile(stream)
        (file.width, file.height) = (144, 176)
        return file
      }()),
    Case(.levelBuffer, stream: TestStream(.init(level: 10, width: 9, height: 11, references: 6))),
    Case(.levelBitRate, .missingTimingSEI, stream: TestStream(.init(level: 10, vui: hrd(bitRate: 20_000, size: 1000)))),
    Case(
      .levelCodedBuffer, .missingTimingSEI, stream: TestStream(.init(level: 10, vui: hrd(bitRate: 100, size: 50_000)))),
    Case(.profileTool, stream: TestStream(.init(profile: 66), isCABAC: true)),
    Case(.profileTool, stream: TestStream(.init(profile: 44), isCABAC: true)),
    // Progressive High and Constrained High; interlaced tools at level 2.
    Case(.profileTool, .decoderFormat, stream: TestStream(.init(profile: 100, flags: 8, isFrameOnly: false))),
    Case(
      .profileTool,
      stream: TestStream(.init(profile: 100, flags: 0xC)).adding(
        .init(frameNumber: 1, order: 4), .init(type: 1, frameNumber: 2, order: 2, reference: 0))),
    Case(.profileTool, .decoderFormat, stream: TestStream(.init(level: 20, isFrameOnly: false))),
    Case(
      .profileTool,
      h265: H265TestStream(
        sps: H265TestStream.sps {
          $0.vui = H265.VUIParameters()
          $0.vui?.isFieldSequence = true
        })),
    Case(.reservedValue, h265: H265TestStream(sps: H265TestStream.sps { $0.profileTierLevel.profile.space = 1 })),
    Case(
      .reservedValue,
      h265: H265TestStream(
        sps: H265TestStream.sps {
          $0.profileTierLevel.profile.constraints.formUnion(.init(rawValue: 2))
        })),
    Case(
      .reservedValue,
      h265: {
        var stream = H265TestStream()
        stream.nalUnits[0][5] = 0xFE
        return stream
      }()),
    Case(.profileFormat, .decoderFormat, stream: TestStream(.init(profile: 100, depth: 10))),
    // Buffers.
    Case(.reorderDepth, stream: reordered(sent: 1)),
    Case(
      .bufferUnderflow, .missingTimingSEI, stream: withPeriod(bitRate: 100, size: 1000, delay: 45_000, payload: 1500)),
    Case(
      .bufferOverflow, .missingTimingSEI,
      stream: withPeriod(bitRate: 1000, size: 200, delay: 4500, payload: 2, isConstant: true)),
    Case(
      .outputOrder,
      stream: TestStream(.init(references: 1, vui: restriction(reorder: 1, buffering: 1))).adding(
        .init(frameNumber: 1, order: 8), .init(frameNumber: 2, order: 4), .init(frameNumber: 3, order: 10))),
    // A long-term picture, which the sliding window does not unmark.
    Case(
      .decodedBufferFull,
      stream: TestStream(.init(references: 1, vui: restriction(reorder: 0, buffering: 1))).adding(
        .init(isIDR: true, type: 2, idrID: 1, isLongTerm: true), .init(frameNumber: 1, order: 2))),
    Case(
      .discardedOutput,
      stream: TestStream().adding(
        .init(frameNumber: 1, order: 2), .init(isIDR: true, type: 2, idrID: 1, discardsPriorPictures: true))),
    Case(
      .discardedOutput,
      h265: H265TestStream().adding(.init(order: 4, references: [4])).adding(H265TestStream.endOfSequence).adding(
        .init(type: .cra, kind: 2))),
    Case(
      .levelUnderflow,
      stream: TestStream(.init(level: 10, vui: rate())).adding(.init(frameNumber: 1, order: 2, payload: 30_000))),
    Case(.tooManyReferences, stream: TestStream(.init(vui: restriction(reorder: 0, buffering: 1)))),
    Case(
      .tooManyReferences,
      stream: two().adding(.init(frameNumber: 2, order: 4, keepsAll: true), .init(frameNumber: 3, order: 6))),
    // H.265 only.
    Case(.forbiddenBit, h265: H265TestStream().adding([0x80 | 38 << 1, 1, 0xFF, 0x80])),
    Case(.truncated, h265: H265TestStream().adding([38 << 1]).adding(.init(order: 1, references: [1]))),
    Case(.temporalID, h265: H265TestStream().adding(.init(type: .tsaR, order: 1, references: [1]))),
    Case(
      .reservedType,
      h265: H265TestStream().adding([41 << 1, 1, 0xFF, 0x80]).adding(.init(order: 1, references: [1]))),
    Case(
      .sliceMismatch,
      h265: H265TestStream().adding(
        .init(order: 1, references: [1]), .init(type: .trailingN, order: 1, references: [1], address: 4))),
    Case(.sliceMismatch, h265: H265TestStream(.init(type: .idrWithoutLeading, kind: 1))),
    Case(
      .sliceOrder,
      h265: H265TestStream().adding(
        .init(order: 1, references: [1]), .init(order: 1, references: [1], address: 4),
        .init(order: 1, references: [1], address: 3))),
    Case(
      .leadingPictures,
      h265: H265TestStream(.init(type: .idrWithRADL, kind: 2)).adding(
        .init(order: 4, references: [4]), .init(type: .radlN, order: 2, references: [2]))),
    Case(
      .leadingPictures,
      h265: H265TestStream().adding(.init(type: .radlN, order: 255, kind: 2))),
    Case(.missingReference, h265: H265TestStream().adding(.init(order: 4, references: [2]))),
    Case(.missingParameterSet, h265: H265TestStream().adding(.init(order: 1, references: [1], pps: 5))),
    Case(.pictureOrderRepeated, h265: H265TestStream().adding(.init(order: 0, kind: 2))),
    // Three reference pictures overflow a buffer of two; with too few waiting pictures the output order is wrong.
    Case(
      .tooManyReferences, .decodedBufferFull,
      h265: H265TestStream(
        sps: H265TestStream.sps { $0.buffering = [.init(maximumDecodedPictures: 2, maximumReorderPictures: 0)] }
      ).adding(.init(order: 1, references: [1]), .init(order: 2, references: [1, 2]))),
    Case(
      .reorderDepth, .outputOrder,
      h265: H265TestStream(
        sps: H265TestStream.sps { $0.buffering = [.init(maximumDecodedPictures: 4, maximumReorderPictures: 1)] }
      ).adding(
        .init(order: 8, references: [8]), .init(order: 6, references: [6]),
        .init(type: .trailingN, order: 2, references: [2]))),
    Case(
      .levelBuffer,
      h265: H265TestStream(
        sps: H265TestStream.sps {
          $0.codedSize = VideoSize(width: 1280, height: 720)
          $0.buffering = [.init(maximumDecodedPictures: 10, maximumReorderPictures: 2)]
        })),
    Case(
      .startsLate,
      bytes: H265TestStream().adding(.init(order: 1, kind: 2)).nalUnits.enumerated()
        .filter { $0.offset != 3 }.flatMap { [0, 0, 1] + $0.element }),
    // Containers.
    Case(.containerSync, mp4: two { $0.sync = [1, 2] }),
    Case(.containerSync, mp4: two { $0.sync = [2] }),
    Case(.containerSize, mp4: two { $0.width = 48 }),
    Case(
      .containerParameterSets,
      mp4: two { $0.samples[1] = MP4TestFile.prefixed(TestStream.pps(id: 3)) + $0.samples[1] }),
    Case(
      .containerConfiguration,
      mp4: two {
        ($0.coding, $0.configuration) = ("avc3", [0])
        $0.samples[0] = MP4TestFile.prefixed(TestStream.sps()) + MP4TestFile.prefixed(TestStream.pps()) + $0.samples[0]
      }),
    Case(.containerTimestamps, mp4: two { $0.offsets = [200, 0] }),
    Case(.containerSample, mp4: two { $0.samples[1] += [0, 0, 1] }),
    Case(.containerSample, mp4: two { $0.samples[1] += [0, 0, 0, 0] }),
    Case(.containerSample, mp4: two { $0.samples[1] = [0, 0, 0, 0] + $0.samples[1] }),
    Case(
      .containerTrailingZero,
      mp4: two {
        let slice = TestStream.slice(.init(frameNumber: 1, order: 2))
        $0.samples[1] = MP4TestFile.prefixed(slice + [0])
      }),
    Case(
      .containerColour,
      mp4: {
        var file = MP4TestFile(two(.init(vui: colour)))
        file.colour = [9, 16, 9]
        return file
      }()),
    Case(
      .containerColour,
      mp4: {
        var file = MP4TestFile(two(.init(vui: colour)))
        (file.colour, file.isFullRange) = ([1, 1, 1], true)
        return file
      }()),
    // avcC that contradicts its SPS: profile, constraint flags, level, bit depth.
    Case(.containerConfiguration, mp4: two { $0.configuration[1] = 66 }),
    Case(.containerConfiguration, mp4: two { $0.configuration[2] = 0x40 }),
    Case(.containerConfiguration, mp4: two { $0.configuration[3] = 12 }),
    Case(
      .containerConfiguration, .decoderFormat,
      mp4: {
        var file = MP4TestFile(two(.init(profile: 110, depth: 10)))
        file.configuration += [0xFD, 0xF8, 0xF8, 0]
        return file
      }()),
    Case(.order, mp4: two { $0.samples[1] += MP4TestFile.prefixed(TestStream.pps()) }),
    Case(.containerFrameRate, mp4: even(ticks: 125)),
    Case(.containerFrameRate, mp4: even(ticks: 50)),
    Case(.containerEditRate, mp4: two { $0.editRate = 0x8000 }),
    // Decoders.
    Case(.decoderFormat, stream: TestStream(.init(profile: 110, depth: 10))),
    Case(.decoderLevel, stream: TestStream(.init(level: 52))),
    Case(.decoderLayers, stream: TestStream().adding([0x74, 0x80, 0, 0x01, 0x80])),
    Case(.decoderLayers, bytes: H265TestStream().bytes + [0, 0, 0, 1, 0x02, 0x09, 0x80, 0, 0, 1, 0x02, 0x09, 0x80]),
  ]
}
