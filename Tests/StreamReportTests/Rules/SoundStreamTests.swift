// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport
import Testing

/// Streams that look wrong and are right.
@Suite("Rules: sound streams") struct SoundStreamTests {
  @Test("Samples of a second description are read with its parameter sets")
  func readsSamplesWithTheirDescriptionsParameterSets() throws {
    // The second has three reference frames, not two, and POC LSBs of as many bits.
    let other = TestStream(.init(width: 4, references: 3))
    var file = MP4TestFile(TestStream().adding(.init(frameNumber: 1, order: 2)))
    file.width = 32
    let pictures = other.adding(.init(frameNumber: 1, order: 2), .init(frameNumber: 2, order: 4)).nalUnits[2...]
    file.second = (MP4TestFile.configuration(other), file.samples.count)
    file.samples += pictures.map { MP4TestFile.prefixed($0) }
    file.offsets += pictures.map { _ in 0 }
    file.sync = [1, 3]
    let items = try report(file.bytes)
    let sets = items.compactMap { item -> ParameterSetRecord? in
      if case .parameterSet(let set) = item, set.format != nil { set } else { nil }
    }
    #expect(sets.map(\.format?.width) == [32, 64])
    #expect(sets.map(\.accessUnit) == [0, 2])
    #expect(sets.map(\.isOutOfBand) == [true, true])
    // The sample description has 32 samples of width.
    let found = try findings(file.bytes).map(\.rule)
    #expect(found == [.containerSize])
  }

  @Test("The configuration record may change between two samples")
  func acceptsAChangedConfigurationBetweenSamples() {
    let (first, second) = (TestStream(), TestStream(.init(width: 4, references: 3), isCABAC: true))
    var reporter = SampleReporter(.h264, in: .flv, configuration: MP4TestFile.configuration(first))
    reporter.feed(MP4TestFile.prefixed(first.nalUnits[2]), .init(pts: 0, dts: 0, duration: 0, isSync: true))
    reporter.configure(MP4TestFile.configuration(second))
    var slice = TestStream.Slice(isIDR: true, type: 2, idrID: 1)
    slice.payload = 20
    reporter.feed(
      MP4TestFile.prefixed(TestStream.slice(slice)), .init(pts: 40, dts: 40, duration: 0, isSync: true))
    reporter.finish()
    var widths: [Int] = []
    while let item = reporter.next() {
      if case .parameterSet(let set) = item, let format = set.format { widths.append(format.width) }
      if case .summary(let summary) = item { #expect(summary.count(of: .error) == 0) }
    }
    #expect(widths == [32, 64])
  }

  @Test("Samples that all share the same bytes are reported as too many") func boundsSamplesThatShareBytes() throws {
    var file = MP4TestFile(TestStream().adding(.init(frameNumber: 1, order: 2, payload: 5000)))
    file.samples.removeFirst()
    file.offsets.removeFirst()
    file.copies = 3
    var samples = try MP4.VideoSamples(BytesSource(file.bytes))
    for _ in 0..<4 { #expect(try samples.next() != nil) }
    #expect(try samples.next() == nil)
    file.copies = 1000
    let items = try report(file.bytes)
    let units = items.filter { if case .accessUnit = $0 { true } else { false } }.count
    #expect(units > 4 && units < 100)
    #expect(try findings(file.bytes).contains { $0.rule == .containerSample })
  }

  @Test("NAL units that belong to the next picture are not kept without limit")
  func boundsNALUnitsThatWaitForTheNextPicture() throws {
    let count = 160_000
    let stream = TestStream().bytes + [UInt8]((0..<count).map { _ in [0, 0, 1, 0x6E, 0x80] as [UInt8] }.joined())
    let items = try report(stream)
    for item in items {
      if case .accessUnit(let unit) = item { #expect(unit.nalUnits.count <= 150_003) }
      if case .summary(let summary) = item { #expect(summary.nalUnits[14] == UInt64(count)) }
    }
  }

  /// A VUI with 25 frames a second and NAL HRD parameters of one buffer, whose delays have `length` bits.
  private static func hrd(
    bitRate: UInt32 = 1000, size: UInt32 = 1000, isLowDelay: Bool = false, length: UInt32 = 24
  ) -> (inout BitWriter) -> Void {
    { writer in
      writer.flag(true)
      writer.u(4, 0)
      writer.flag(true)
      writer.u(32, 1)
      writer.u(32, 50)
      writer.flag(!isLowDelay)
      writer.flag(true)
      writer.ue(0)
      writer.u(8, 0)
      writer.ue(bitRate - 1)
      writer.ue(size - 1)
      writer.flag(false)
      for _ in 0..<3 { writer.u(5, length - 1) }
      writer.u(5, 24)
      writer.flag(false)
      writer.flag(isLowDelay)
      writer.u(2, 0)
    }
  }

  private static func message(_ type: SEIPayloadType, _ write: (inout BitWriter) -> Void) -> [UInt8] {
    var writer = BitWriter(addsEmulationPrevention: false)
    write(&writer)
    if !writer.isByteAligned { writer.trailingBits() }
    return seiNALUnit([(type: type, payload: writer.bytes)])
  }

  /// An IDR picture and another, each with its timing; delays of `length` bits.
  private static func timed(_ vui: @escaping (inout BitWriter) -> Void, length: Int, payload: Int = 2) -> TestStream {
    var stream = TestStream(.init(vui: vui))
    let timing: (UInt32) -> [UInt8] = { delay in
      message(.pictureTiming) { writer in
        writer.u(length, delay)
        writer.u(length, 2)
      }
    }
    stream.nalUnits.insert(
      message(.bufferingPeriod) { writer in
        writer.ue(0)
        writer.u(length, 1000)
        writer.u(length, 0)
      }, at: 2)
    stream.nalUnits.insert(timing(0), at: 3)
    return stream.adding(timing(2), TestStream.slice(.init(frameNumber: 1, order: 2, payload: payload)))
  }

  @Test("With low_delay_hrd_flag a large picture may come late", arguments: [false, true])
  func lowDelayHRDAllowsLatePictures(isLowDelay: Bool) throws {
    let stream = Self.timed(Self.hrd(bitRate: 100, isLowDelay: isLowDelay), length: 24, payload: 1500)
    #expect(Set(try findings(stream.bytes).map(\.rule)) == (isLowDelay ? [] : [.bufferUnderflow]))
  }

  @Test("SEI before a slice is read with the SPS before it, not the one that it replaces")
  func readsSEIWithTheSPSBeforeIt() throws {
    let first = Self.timed(Self.hrd(), length: 24)
    var second = Self.timed(Self.hrd(length: 11), length: 11)
    second.nalUnits[4] = TestStream.slice(.init(isIDR: true, type: 2, idrID: 1))
    #expect(try findings(first.bytes + second.bytes).isEmpty)
    #expect(try findings(second.bytes + first.bytes).isEmpty)
  }

  @Test("A buffering period of H.265 may activate the first SPS with HRD parameters", arguments: [true, false])
  func aBufferingPeriodActivatesAnSPSWithHRDParameters(hasPeriod: Bool) throws {
    func message(_ type: UInt32, _ write: (inout BitWriter) -> Void) -> [UInt8] {
      var payload = BitWriter(addsEmulationPrevention: false)
      write(&payload)
      if !payload.isByteAligned { payload.trailingBits() }
      var writer = BitWriter()
      H265.NALUnitHeader(type: .prefixSEI).write(to: &writer)
      for byte in [UInt8(type), UInt8(payload.bytes.count)] + payload.bytes { writer.u(8, UInt32(byte)) }
      writer.trailingBits()
      return writer.bytes
    }
    let timed = H265TestStream.sps { sps in
      var common = H265.HRDParameters.Common()
      common.hasNAL = true
      var layer = H265.HRDParameters.SubLayer(pictureRate: .fixed(elementalDuration: 1))
      layer.nal = [.init(bitRateValue: 10_000, sizeValue: 10_000, isConstantBitRate: false)]
      sps.vui = H265.VUIParameters()
      sps.vui?.timing = .init(unitsInTick: 1, timeScale: 25)
      sps.vui?.timing?.hrdParameters = H265.HRDParameters(common: common, subLayers: [layer])
    }
    var stream = H265TestStream(sps: timed)
    let other = H265.PictureParameterSet(id: 1, sequenceParameterSetID: 1)
    stream.nalUnits[3...] = [
      H265TestStream.sps { $0.id = 1 }, other.nalUnit(),
      H265TestStream.slice(.init(type: .idrWithoutLeading, kind: 2, pps: 1)),
      message(0) { writer in
        writer.ue(0)
        writer.u(2, 0)
        for value: UInt32 in [0, 1000, 0] { writer.u(24, value) }
      },
      message(1) { writer in for value: UInt32 in [0, 2] { writer.u(24, value) } },
      H265TestStream.slice(H265TestStream.idr),
    ]
    if !hasPeriod { stream.nalUnits.remove(at: 6) }
    #expect(try findings(stream.bytes).map(\.rule).contains(.missingTimingSEI) == !hasPeriod)
  }

  @Test("The buffer of the level fills while the previous picture lasts", arguments: [true, false])
  func theBufferFillsWhileThePreviousPictureLasts(isSound: Bool) {
    let stream = TestStream(.init(level: 10)).adding(
      .init(frameNumber: 1, order: 2, payload: 15_000), .init(frameNumber: 2, order: 4, payload: 15_000))
    let file = MP4TestFile(stream)
    var reporter = SampleReporter(.h264, in: .matroska, configuration: file.configuration)
    let durations: [UInt32] =
      isSound ? [40_000_000, 4_000_000_000, 40_000_000] : [40_000_000, 40_000_000, 4_000_000_000]
    var time: Int64 = 0
    for (sample, duration) in zip(file.samples, durations) {
      reporter.feed(sample, .init(pts: time, dts: nil, duration: duration, isSync: time == 0))
      time += Int64(duration)
    }
    reporter.finish()
    var rules: [Rule] = []
    while let item = reporter.next() { if case .finding(let finding) = item { rules.append(finding.rule) } }
    #expect(rules == (isSound ? [] : [.levelUnderflow]))
  }

  /// An SPS of H.265 with HRD parameters, `rate` bits a second and `frequency` clock ticks a second.
  private static func sequence(
    level: UInt8 = 60, rate: UInt32, frequency: UInt32 = 25, units: UInt32 = 1, ticks: UInt16 = 1,
    profile: H265.Profile? = nil
  ) -> [UInt8] {
    H265TestStream.sps { sps in
      sps.profileTierLevel.levelIDC = level
      if let profile { sps.profileTierLevel.profile = profile }
      var common = H265.HRDParameters.Common()
      common.hasNAL = true
      var layer = H265.HRDParameters.SubLayer(pictureRate: .fixed(elementalDuration: ticks))
      layer.nal = [.init(bitRateValue: rate / 64, sizeValue: 1000, isConstantBitRate: false)]
      var timing = H265.VUIParameters.Timing(unitsInTick: units, timeScale: frequency)
      timing.hrdParameters = H265.HRDParameters(common: common, subLayers: [layer])
      sps.vui = H265.VUIParameters()
      sps.vui?.timing = timing
    }
  }

  private func rules(_ sps: [UInt8]) throws -> Set<Rule> {
    Set(try findings(H265TestStream(sps: sps).bytes).map(\.rule))
  }

  @Test("The bit rate limit depends on the profile, not on the pictures")
  func profileDecidesTheBitRateLimit() throws {
    let main444: H265.Profile.Constraints = [.maximum12Bit, .lowerBitRate]
    let grey: H265.Profile.Constraints = [
      .maximum12Bit, .maximum10Bit, .maximum8Bit, .maximum422, .maximum420, .monochrome, .lowerBitRate,
    ]
    let intra: H265.Profile.Constraints = [
      .maximum12Bit, .maximum10Bit, .maximum8Bit, .maximum422, .maximum420, .intra,
    ]
    // Level 2: 1500 × CpbNalFactor × HbrFactor.
    let cases: [(H265.Profile?, UInt32)] = [
      (nil, 1_650_000), (.init(idc: 4, constraints: main444), 4_950_000),
      (.init(idc: 4, constraints: intra), 3_300_000),
      (.init(idc: 4, constraints: grey), 1_099_500),
      (.init(idc: 5, constraints: main444.union(.maximum14Bit)), 29_700_000),
    ]
    for (profile, limit) in cases {
      for (rate, isOver) in [(limit / 64 * 64, false), (limit / 64 * 64 + 64, true)] {
        let found = try rules(Self.sequence(rate: rate, profile: profile))
        #expect(found.contains(.levelBitRate) == isOver, "\(rate) with \(profile?.idc ?? 1)")
      }
    }
  }

  @Test("Pictures of two ticks halve the frame rate")
  func picturesOfTwoTicksHalveTheRate() throws {
    // Level 1: 16 pictures of 256 × 128 a second.
    #expect(try !rules(Self.sequence(level: 30, rate: 64, frequency: 30, ticks: 2)).contains(.levelRate))
    #expect(try rules(Self.sequence(level: 30, rate: 64, frequency: 30)).contains(.levelRate))
  }

  /// The samples that the level allows in this time are more than 64 bits hold.
  @Test("The longest pictures of the highest level do not overflow")
  func acceptsTheLongestPicturesOfTheHighestLevel() throws {
    let sps = Self.sequence(level: 186, rate: 64, frequency: 1, units: .max, ticks: 2048)
    #expect(try !rules(sps).contains(.levelRate))
  }

  @Test("Screen content profiles hold one more picture", arguments: [1, 9] as [UInt8])
  func screenContentProfilesHoldOneMorePicture(idc: UInt8) throws {
    let constraints: H265.Profile.Constraints = [
      .maximum14Bit, .maximum12Bit, .maximum10Bit, .maximum8Bit, .maximum422, .maximum420, .lowerBitRate,
    ]
    let sps = H265TestStream.sps { sps in
      sps.profileTierLevel.levelIDC = 30
      sps.profileTierLevel.profile = H265.Profile(idc: idc, constraints: idc == 9 ? constraints : [])
      sps.buffering = [.init(maximumDecodedPictures: 7, maximumReorderPictures: 2)]
    }
    #expect(try rules(sps) == (idc == 9 ? [] : [.levelBuffer]))
  }

  @Test("Pictures that are not output do not count as reordered", arguments: [false, true])
  func hiddenPicturesDoNotCountAsReordered(isOutput: Bool) throws {
    var stream = H265TestStream(
      .init(type: .idrWithoutLeading, kind: 2, isOutput: true),
      sps: H265TestStream.sps { $0.buffering = [.init(maximumDecodedPictures: 4, maximumReorderPictures: 1)] })
    var pps = H265.PictureParameterSet(id: 0, sequenceParameterSetID: 0)
    pps.isOutputFlagPresent = true
    stream.nalUnits[2] = pps.nalUnit()
    stream = stream.adding(
      .init(order: 8, references: [8], isOutput: isOutput), .init(order: 6, references: [6], isOutput: true),
      .init(type: .trailingN, order: 2, references: [2], isOutput: true))
    #expect(try findings(stream.bytes).isEmpty == !isOutput)
  }

  @Test("A delay of 0 and a pic_struct of a field in a frame are found", arguments: [false, true])
  func findsContradictingSEI(isField: Bool) throws {
    let vui: (inout BitWriter) -> Void = { writer in
      writer.flag(true)
      // No aspect, overscan, signal, chroma, timing, HRD (two); pic_struct_present_flag.
      writer.u(7, 0)
      writer.flag(true)
      writer.flag(false)
    }
    var stream = TestStream(.init(vui: vui))
    stream.nalUnits.insert(
      Self.message(.pictureTiming) { writer in
        writer.u(4, isField ? 1 : 0)
        writer.u(2, 0)
      }, at: 2)
    #expect(try findings(stream.bytes).map(\.rule) == (isField ? [.pictureType] : []))
    var timed = Self.timed(Self.hrd(), length: 24)
    timed.nalUnits[2] = Self.message(.bufferingPeriod) { writer in
      writer.ue(0)
      writer.u(24, isField ? 0 : 1000)
      writer.u(24, 0)
    }
    #expect(try findings(timed.bytes).map(\.rule).contains(.unreadableSEI) == isField)
  }

  @Test("A stream may begin with RASL pictures") func aStreamMayBeginWithRASLPictures() throws {
    let stream = H265TestStream(.init(type: .raslR, order: 250, references: [4])).adding(
      .init(type: .raslN, order: 252, references: [2]), .init(order: 4, references: [4]))
    #expect(try findings(stream.bytes).map(\.rule) == [.startsLate])
  }

  @Test("A picture that precedes another in output order does not make it late", arguments: [1, 2] as [UInt32])
  func precedingAnotherPictureDoesNotMakeAPictureLate(increasePlus1: UInt32) throws {
    // C.5.2.3 counts only pictures that precede the waiting one.
    let sps = H265TestStream.sps { sps in
      sps.buffering = [
        .init(maximumDecodedPictures: 4, maximumReorderPictures: 2, maximumLatencyIncreasePlus1: increasePlus1)
      ]
    }
    let stream = H265TestStream(sps: sps).adding(
      .init(order: 10, references: [10]), .init(order: 20, references: [10, 20]),
      .init(type: .trailingN, order: 2, references: [2]), .init(type: .trailingN, order: 4, references: [4]))
    #expect(try findings(stream.bytes).isEmpty)
  }

  @Test("Suffix SEI in an hvcC is no parameter set") func suffixSEIInHvcCIsNoParameterSet() throws {
    let stream = H265TestStream()
    let suffix: [UInt8] = [0x50, 0x01, 0x84, 0x01, 0x00, 0x80]
    var configuration: [UInt8] = [
      1, 1, 0x60, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 93, 0xF0, 0, 0xFC, 0xFD, 0xF8, 0xF8, 0, 0, 0x0F, 4,
    ]
    for (type, set) in [(32, stream.nalUnits[0]), (33, stream.nalUnits[1]), (34, stream.nalUnits[2]), (40, suffix)] {
      configuration += [0x80 | UInt8(type), 0, 1, 0, UInt8(set.count)] + set
    }
    var reporter = SampleReporter(.h265, in: .matroska, configuration: configuration)
    reporter.feed(MP4TestFile.prefixed(stream.nalUnits[3]), .init(pts: 0, dts: 0, duration: 0, isSync: true))
    reporter.finish()
    while let item = reporter.next() {
      if case .finding(let finding) = item { #expect(finding.rule != .unreadableParameterSet) }
    }
  }

  /// A VUI with a colour description.
  private static func colour(_ codes: [UInt32]) -> (inout BitWriter) -> Void {
    { writer in
      writer.flag(true)
      writer.u(2, 0)
      writer.flag(true)
      writer.u(3, 5)
      writer.flag(false)
      writer.flag(true)
      for code in codes { writer.u(8, code) }
      writer.u(6, 0)
    }
  }

  @Test("The container may have the transfer characteristics that SEI prefers", arguments: [nil, 16, 18])
  func containerMayHaveThePreferredTransfer(_ preferred: UInt8?) throws {
    var stream = TestStream(.init(vui: Self.colour([9, 14, 9])))
    if let preferred {
      let sei = seiNALUnit([(type: .alternativeTransferCharacteristics, payload: [preferred])])
      stream.nalUnits.insert(sei, at: 2)
    }
    var file = MP4TestFile(stream)
    if preferred != nil { file.samples = [file.samples[0] + file.samples[1]] }
    (file.offsets, file.colour) = ([0], [9, 18, 9])
    #expect(try findings(file.bytes).map(\.rule) == (preferred == 18 ? [] : [.containerColour]))
  }

  @Test("Color that the stream leaves unspecified is no contradiction")
  func unspecifiedColourIsNoContradiction() throws {
    for (codes, isSound) in [([2, 2, 1], true), ([1, 1, 1], true), ([2, 9, 1], false)] as [([UInt32], Bool)] {
      var file = MP4TestFile(TestStream(.init(vui: Self.colour(codes))))
      file.colour = [1, 1, 1]
      #expect(try findings(file.bytes).map(\.rule) == (isSound ? [] : [.containerColour]), "\(codes)")
    }
  }

  @Test("Where streams are joined, the buffer restarts with the first picture that signals its delay")
  func bufferRestartsWhereStreamsAreJoined() throws {
    let first = Self.timed(Self.hrd(), length: 24)
    var second = first
    second.nalUnits[4] = TestStream.slice(.init(isIDR: true, type: 2, idrID: 1))
    let units = try report(first.bytes + second.bytes).compactMap { item -> AccessUnitRecord? in
      if case .accessUnit(let unit) = item { unit } else { nil }
    }
    #expect(units.count == 4)
    #expect(units.allSatisfy { $0.bufferFullness != nil })
  }

  @Test("All bytes before the first start code are counted, whatever the size of the pieces")
  func countsAllBytesBeforeTheFirstStartCode() throws {
    let stream = TestStream().bytes
    for (front, count) in [(900_000, 900_000), (70, 70), (300_000, 300_000)] {
      let bytes = [UInt8](repeating: 0x55, count: front) + [0, 0] + stream
      let found = try findings(bytes)
      #expect(found.map(\.rule) == [.garbage])
      #expect(
        found.first.map { String(decoding: $0.found.bytes, as: UTF8.self) } == "\(count) bytes before a start code")
      var reporter = SampleReporter(.h264, in: .mpegTS, configuration: nil)
      for start in stride(from: 0, to: bytes.count, by: 4000) {
        reporter.feed(Array(bytes[start..<min(bytes.count, start + 4000)]), nil)
      }
      reporter.finish()
      var demultiplexed: [Finding] = []
      while let item = reporter.next() { if case .finding(let finding) = item { demultiplexed.append(finding) } }
      #expect(demultiplexed.map(\.found.bytes) == found.map(\.found.bytes))
    }
  }
}
