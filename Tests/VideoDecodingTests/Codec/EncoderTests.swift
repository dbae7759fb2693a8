// SPDX-License-Identifier: MPL-2.0
import AVCodec
import H26x
import Testing

@testable import VideoDecoding

/// libavcodec's encoders, each as far as this machine has it.
@Suite struct EncoderTests {
  /// An encoder that takes a sample format.
  struct Trial: Sendable, CustomTestStringConvertible {
    let codec: CodecSettings.Codec
    let format: String
    let encoder: String
    var testDescription: String { "\(encoder) \(format)" }

    func settings(for gradient: MovingGradient) -> EncoderSettings {
      var settings = EncoderSettings(
        codec: codec, width: gradient.width, height: gradient.height, format: gradient.frameFormat)
      settings.encoder = encoder
      return settings
    }
  }

  static let trials = ["yuv420p", "yuv420p10le", "yuv422p", "yuv444p"].flatMap { format in
    [CodecSettings.Codec.h264, .h265].flatMap { codec in
      (FrameFormat(name: format).map { CodecLibrary.encoderNames(for: codec, format: $0) } ?? [])
        .map { Trial(codec: codec, format: format, encoder: $0) }
    }
  }
  static let hasX264 = trials.contains { $0.encoder == "libx264" }
  static let hasX265 = trials.contains { $0.encoder == "libx265" }
  /// Presentation times of any order.
  static let times: [Int64] = [.min, 7, 7, -1, .max, 0, 1, 2, 3, 4]

  /// Encodes ten pictures. Expects each packet no more than a picture late.
  private func encode(_ gradient: MovingGradient, _ settings: EncoderSettings) throws -> [EncodedPicture] {
    var encoder = try EncoderContext(settings)
    var pictures: [EncodedPicture] = []
    for (number, time) in Self.times.enumerated() {
      try encoder.send(gradient.picture(number), presentation: time)
      while let picture = try encoder.receive() { pictures.append(picture) }
      #expect(pictures.count >= number)
    }
    try encoder.sendEndOfStream()
    while let picture = try encoder.receive() { pictures.append(picture) }
    #expect(try refusal(of: gradient.picture(0), by: &encoder) == .endOfFile)
    return pictures
  }

  /// The error of sending a picture; nil if the encoder takes it.
  private func refusal(of picture: borrowing Frame, by encoder: inout EncoderContext) -> AVError? {
    do throws(AVError) {
      try encoder.send(picture, presentation: 0)
      return nil
    } catch {
      return error
    }
  }

  /// Decodes packets, and visits the frames with their numbers.
  private func decode(
    _ pictures: [EncodedPicture], _ codec: CodecSettings.Codec, _ gradient: MovingGradient,
    _ visit: (borrowing Frame, Int) throws -> Void
  ) throws {
    var settings = CodecSettings(codec: codec)
    settings.threadCount = 1
    let decoder = try CodecContext(settings, buffers: gradient.memory)
    let frame = try Frame()
    var count = 0
    for picture in pictures {
      try decoder.send(picture.packet)
      while try decoder.receive(frame) == .frame {
        try visit(frame, count)
        count += 1
      }
    }
    try decoder.sendEndOfStream()
    while try decoder.receive(frame) == .frame {
      try visit(frame, count)
      count += 1
    }
    #expect(count == pictures.count)
  }

  private func nalUnits(of picture: EncodedPicture) -> [[UInt8]] {
    let bytes = picture.packet.bytes
    var nalUnits = AnnexB.NALUnits(bytes)
    var found: [[UInt8]] = []
    while let nalUnit = nalUnits.next() { found.append(nalUnit.range.map { bytes[$0] }) }
    return found
  }

  @Test(.enabled(if: !trials.isEmpty), arguments: trials)
  func aPacketComesForEachPicture(_ trial: Trial) throws {
    let gradient = try MovingGradient(trial.format)
    let pictures = try encode(gradient, trial.settings(for: gradient))
    #expect(pictures.map(\.packet.timestamp) == Self.times)
    #expect(pictures.map(\.isKey) == Self.times.indices.map { $0 == 0 })
    for picture in pictures {
      let slices = nalUnits(of: picture).filter {
        trial.codec == .h264 ? H264.NALUnitType(headerByte: $0[0]).isVCL : H265.NALUnitType(headerByte: $0[0]).isSlice
      }
      #expect(slices.count == 1)
    }
    try decode(pictures, trial.codec, gradient) { frame, number in
      #expect(frame.format == gradient.frameFormat && frame.width == gradient.width && frame.height == gradient.height)
      let similarity = try gradient.similarity(of: frame, to: number)
      #expect(similarity >= 40)
    }
  }

  @Test(.enabled(if: hasX264), arguments: [true, false])
  func interlacedFramesAreCodedAdaptively(_ isTopFieldFirst: Bool) throws {
    let gradient = try MovingGradient("yuv420p")
    var settings = Trial(codec: .h264, format: "yuv420p", encoder: "libx264").settings(for: gradient)
    settings.isTopFieldFirst = isTopFieldFirst
    let pictures = try encode(gradient, settings)
    let sps = try #require(nalUnits(of: pictures[0]).first { $0[0] & 31 == 7 })
    #expect(try H264.SequenceParameterSet(nalUnit: sps.span).isMacroblockAdaptiveFrameField)
    try decode(pictures, .h264, gradient) { frame, number in
      #expect(frame.isInterlaced && frame.isTopFieldFirst == isTopFieldFirst)
      let similarity = try gradient.similarity(of: frame, to: number)
      #expect(similarity >= 40)
    }
  }

  @Test(.enabled(if: hasX264), arguments: [true, false], [true, false])
  func h264UsesTheChosenTools(_ usesCABAC: Bool, _ uses8x8Transform: Bool) throws {
    let gradient = try MovingGradient("yuv420p")
    for profile: UInt8? in [nil, 66, 77, 100] {
      var settings = Trial(codec: .h264, format: "yuv420p", encoder: "libx264").settings(for: gradient)
      (settings.usesCABAC, settings.uses8x8Transform) = (usesCABAC, uses8x8Transform)
      settings.profile = profile
      settings.level = 21
      let sets = try nalUnits(of: #require(encode(gradient, settings).first))
      let (firstSPS, firstPPS) = try (
        #require(sets.first { $0[0] & 31 == 7 }), #require(sets.first { $0[0] & 31 == 8 })
      )
      let sps = try H264.SequenceParameterSet(nalUnit: firstSPS.span)
      let pps = try H264.PictureParameterSet(nalUnit: firstPPS.span)
      #expect(pps.usesCABAC == (usesCABAC && profile != 66))
      #expect((pps.high?.uses8x8Transform ?? false) == (uses8x8Transform && profile ?? 100 >= 100))
      #expect(!pps.usesWeightedPrediction)
      #expect(sps.profile.idc <= profile ?? 100 && sps.level.idc == 21)
    }
  }

  /// The decoder adds chroma to monochrome H.264.
  @Test(.enabled(if: hasX264)) func lumaIsTakenFromPicturesWithChroma() throws {
    let gradient = try MovingGradient("yuv420p")
    var settings = Trial(codec: .h264, format: "gray", encoder: "libx264").settings(for: gradient)
    settings.format = try #require(FrameFormat(name: "gray"))
    let pictures = try encode(gradient, settings)
    let sps = try #require(nalUnits(of: pictures[0]).first { $0[0] & 31 == 7 })
    #expect(try H264.SequenceParameterSet(nalUnit: sps.span).chromaFormat == .monochrome)
    let luma = try MovingGradient("gray")
    try decode(pictures, .h264, luma) { frame, number in
      let similarity = try luma.similarity(of: frame, to: number)
      #expect(similarity >= 40)
    }
    var encoder = try EncoderContext(settings)
    let deeper = try MovingGradient("yuv420p10le")
    #expect(try refusal(of: deeper.picture(0), by: &encoder) == .invalidArgument)
  }

  @Test(.enabled(if: !trials.isEmpty), arguments: trials.filter { ["libx264", "libx265"].contains($0.encoder) })
  func settingsAreLikeADecodedPicture(_ trial: Trial) throws {
    let gradient = try MovingGradient(trial.format)
    var settings = trial.settings(for: gradient)
    (settings.colourPrimaries, settings.transferCharacteristics, settings.matrixCoefficients) = (9, 16, 9)
    settings.isFullRange = false
    settings.sampleAspectRatio = (4, 3)
    settings.chromaSampleLocation = trial.format == "yuv420p10le" ? 2 : nil
    try decode(encode(gradient, settings), trial.codec, gradient) { frame, _ in
      let found = EncoderSettings(codec: trial.codec, like: frame)
      #expect(found.width == settings.width && found.height == settings.height && found.format == settings.format)
      #expect(found.isFullRange == false)
      #expect(found.colourPrimaries == 9 && found.transferCharacteristics == 16 && found.matrixCoefficients == 9)
      #expect(found.sampleAspectRatio.map { $0 == (4, 3) } == true)
      if let location = settings.chromaSampleLocation { #expect(found.chromaSampleLocation == location) }
    }
  }

  @Test(
    .enabled(if: hasX264 || hasX265),
    arguments: trials.filter { $0.format == "yuv420p" && ["libx264", "libx265"].contains($0.encoder) })
  func aRateLimitMakesPacketsSmaller(_ trial: Trial) throws {
    let gradient = try MovingGradient(trial.format)
    var settings = trial.settings(for: gradient)
    settings.quality = 1
    let free = try encode(gradient, settings)
    settings.rateLimit = (bitRate: 2000, bufferSize: 2000)
    let bounded = try encode(gradient, settings)
    let counts = [bounded, free].map { pictures in pictures.reduce(0) { $0 + $1.packet.byteCount } }
    #expect(counts[0] * 2 < counts[1])
  }

  @Test(.enabled(if: !trials.isEmpty), arguments: trials.filter { $0.format == "yuv420p" })
  func refusesSettingsOutOfRange(_ trial: Trial) throws {
    let gradient = try MovingGradient(trial.format)
    let extremes = [Int.min, -1, 0, Int.max]
    var changes: [(inout EncoderSettings) -> Void] = [{ $0.width += 1 }, { $0.height += 4 }]
    for number in extremes {
      changes += [
        { $0.width = number }, { $0.height = number }, { $0.frameRate.numerator = number },
        { $0.frameRate.denominator = number }, { $0.sampleAspectRatio = (number, 1) },
        { $0.sampleAspectRatio = (1, number) }, { $0.referenceCount = number }, { $0.threadCount = number },
        { $0.rateLimit = (number, 5000) },
        { $0.rateLimit = (5000, number) },
      ]
    }
    for number in [-Double.infinity, -1, 0, 52, .infinity, .nan] { changes.append { $0.quality = number } }
    for number in [-0.1, 1.1, .nan] { changes.append { $0.initialFullness = number } }
    changes.append { $0.chromaSampleLocation = 6 }
    changes.append { $0.frameRate = (1001, 1) }
    changes.append { $0.frameRate = (1, 11) }
    for (index, change) in changes.enumerated() {
      var settings = trial.settings(for: gradient)
      change(&settings)
      #expect(throws: AVError.invalidArgument, "change \(index)") { _ = try EncoderContext(settings) }
    }
  }

  @Test(.enabled(if: hasX264)) func refusesToolsThatAProfileLacks() throws {
    let gradient = try MovingGradient("yuv420p")
    var settings = Trial(codec: .h264, format: "yuv420p", encoder: "libx264").settings(for: gradient)
    settings.profile = 88
    #expect(throws: AVError.unsupportedFeature) { _ = try EncoderContext(settings) }
    (settings.profile, settings.isTopFieldFirst) = (66, true)
    #expect(throws: AVError.invalidArgument) { _ = try EncoderContext(settings) }
    (settings.profile, settings.isTopFieldFirst) = (100, nil)
    for name in ["yuv420p10le", "yuv422p", "yuv444p"] {
      settings.format = try #require(FrameFormat(name: name))
      #expect(throws: AVError.invalidArgument) { _ = try EncoderContext(settings) }
    }
  }

  @Test(.enabled(if: hasX265)) func h265HasNoInterlacedFrames() throws {
    let gradient = try MovingGradient("yuv420p")
    var settings = Trial(codec: .h265, format: "yuv420p", encoder: "libx265").settings(for: gradient)
    settings.isTopFieldFirst = true
    #expect(throws: AVError.unsupportedFeature) { _ = try EncoderContext(settings) }
  }

  @Test(arguments: [CodecSettings.Codec.h264, .h265]) func reportsAMissingEncoder(_ codec: CodecSettings.Codec) throws {
    let gradient = try MovingGradient("yuv420p")
    for name in ["", "no such encoder", "h264", "hevc", "h264_vaapi", "hevc_nvenc"] {
      let settings = Trial(codec: codec, format: "yuv420p", encoder: name).settings(for: gradient)
      #expect(throws: AVError.encoderNotFound) { _ = try EncoderContext(settings) }
    }
  }

  @Test(.enabled(if: !trials.isEmpty), arguments: trials.filter { $0.format == "yuv420p" })
  func reportsAFormatThatTheEncoderDoesNotTake(_ trial: Trial) throws {
    let gradient = try MovingGradient("yuv420p")
    var settings = trial.settings(for: gradient)
    for format in [Int32.min, -1, .max] + ["yuv420p14le", "yuv410p"].compactMap({ FrameFormat(name: $0)?.rawValue }) {
      settings.format = FrameFormat(rawValue: format)
      #expect(throws: AVError.unsupportedFormat) { _ = try EncoderContext(settings) }
      settings.encoder = nil
      #expect(CodecLibrary.encoderNames(for: trial.codec, format: settings.format) == [])
    }
  }

  @Test(.enabled(if: !trials.isEmpty), arguments: trials.filter { $0.format == "yuv420p" })
  func refusesOtherPictures(_ trial: Trial) throws {
    let gradient = try MovingGradient("yuv420p")
    var encoder = try EncoderContext(trial.settings(for: gradient))
    let others = try [
      MovingGradient("yuv420p", width: 80), MovingGradient("yuv420p", height: 80), MovingGradient("yuv422p"),
      MovingGradient("gray"),
    ]
    for other in others { #expect(try refusal(of: other.picture(0), by: &encoder) == .invalidArgument) }
    #expect(try refusal(of: Frame(), by: &encoder) == .invalidArgument)
    try encoder.send(gradient.picture(0), presentation: 5)
    try encoder.sendEndOfStream()
    let picture = try encoder.receive()
    #expect(picture?.packet.timestamp == 5)
  }
}
