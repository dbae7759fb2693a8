// SPDX-License-Identifier: MPL-2.0
import H26x
import Testing

/// Edits as text.
@Suite struct StreamEditListTests {
  private static let bt709 = ColourDescription(primaries: 1, transfer: 1, matrix: 1)

  private static let readable: [(String, [StreamEdit])] = [
    ("", []), ("  ", []),
    ("colour=bt709", [.colour(bt709)]), ("colorimetry=bt709", [.colour(bt709)]), ("colour=1:1:1", [.colour(bt709)]),
    ("primaries=9,transfer=16,matrix=9", [.primaries(9), .transfer(16), .matrix(9)]),
    (" range = full , remove-hrd ", [.fullRange(true), .removeHRD]),
    ("remove-layers", [.removeLayers]),
    ("remove-colour", [.removeVideoSignal]), ("video-format=pal", [.videoFormat(1)]),
    ("chroma-location=top-left", [.chromaLocation(ChromaLocation(topField: 2, bottomField: 2))]),
    ("sample-aspect=64:45", [.sampleAspectRatio(Ratio(64, 45))]),
    ("overscan=crop", [.overscanAppropriate(true)]),
    ("frame-rate=25", [.frameRate(Ratio(25, 1))]), ("frame-rate=29.97", [.frameRate(Ratio(30_000, 1001))]),
    ("frame-rate=23.976", [.frameRate(Ratio(24_000, 1001))]), ("frame-rate=12.5", [.frameRate(Ratio(25, 2))]),
    ("frame-rate=30000/1001", [.frameRate(Ratio(30_000, 1001))]),
    ("crop=0,2,4,6,overscan=show", [.overscanAppropriate(false), .crop(CropMargins(right: 2, top: 4, bottom: 6))]),
    ("latency=2", [.reordering(2, buffer: nil)]),
    (
      "level=4.1,constraint-set=1=1,constraint-set=4=0",
      [
        .constraintSet(1, true), .constraintSet(4, false), .level(StreamLevel(tenths: 41)),
      ]
    ),
    ("aud=insert", [.insertDelimiters]),
    ("remove-sei=5,aud=remove", [.removeDelimiters, .removeSEI(.userDataUnregistered)]),
    ("aud=keep", []),
    (
      "constraint=frame-only=1,compatible-profile=2=0,constraint=non-packed=0",
      [.compatibleProfile(2, false), .sourceConstraint(.frameOnly, true), .sourceConstraint(.nonPacked, false)]
    ),
    ("level=1b", [.level(.level1b)]),
    ("level=4,tier=main", [.highTier(false), .level(StreamLevel(tenths: 40))]),
    ("tier=main,remove-hrd,level=4", [.removeHRD, .highTier(false), .level(StreamLevel(tenths: 40))]),
    ("tier=main,remove-hrd", [.removeHRD, .highTier(false)]),
    ("tier=high,level=4", [.level(StreamLevel(tenths: 40)), .highTier(true)]),
    (
      "remove-sei=5,content_light_level_info,range=full",
      [
        .fullRange(true), .removeSEI(.userDataUnregistered), .removeSEI(.contentLightLevel),
      ]
    ),
    (
      "remove=captions,hdr10plus,range=full,remove=dolby-vision,hdr10",
      [
        .fullRange(true), .removeMetadata(.captions), .removeMetadata(.hdr10Plus), .removeMetadata(.dolbyVision),
        .removeMetadata(.hdr10),
      ]
    ),
    ("dolby-vision=8.1,remove=captions", [.removeMetadata(.captions), .convertDolbyVision]),
    ("keep-sei=none", [.keepSEI([])]), ("keep-sei=1,6", [.keepSEI([.pictureTiming, .recoveryPoint])]),
    (
      "insert-sei=144=03e80190",
      [
        .insertSEI(SEIInsertion(.contentLightLevel, payload: [3, 0xE8, 1, 0x90], at: .keyframes))
      ]
    ),
  ]

  @Test(arguments: readable) func readsText(_ text: String, _ edits: [StreamEdit]) throws {
    #expect(try StreamEditList(text).edits == edits)
    #expect(try !StreamEditList(text).findsLevel)
  }

  /// A measured depth takes the place that a number would have.
  @Test func aMeasuredDepthTakesThePlaceOfANumber() throws {
    let list = try StreamEditList("latency=measured,level=auto,tier=high")
    #expect(list.measuresReordering && list.edits == [.highTier(true)])
    let depth = StreamEdit.reordering(2, buffer: nil)
    #expect(list.edits(at: nil, reordering: depth) == [depth, .highTier(true)])
    #expect(list.edits(at: StreamLevel(tenths: 40), reordering: depth).count == 3)
    #expect(list.edits(at: nil) == list.edits)
    #expect(try StreamEditList("range=full").edits(at: nil, reordering: depth) == [.fullRange(true)])
    #expect(try StreamEditList("latency=1,tier=high").edits(at: nil, reordering: depth) == [depth, .highTier(true)])
  }

  /// The level that is found takes the place that a named one would have.
  @Test func anAutomaticLevelTakesThePlaceOfANamedOne() throws {
    let list = try StreamEditList("tier=high,level=auto,remove-sei=5,range=full")
    #expect(list.findsLevel)
    #expect(list.edits == [.fullRange(true), .highTier(true), .removeSEI(.userDataUnregistered)])
    let level = StreamLevel(tenths: 40)
    #expect(
      list.edits(at: level)
        == [.fullRange(true), .level(level), .highTier(true), .removeSEI(.userDataUnregistered)])
    #expect(list.edits(at: nil) == list.edits)
  }

  /// Containers and caps repeat properties, and look up whether theirs are outdated.
  @Test func findsTheAffectedProperties() throws {
    let list = try StreamEditList("range=full,crop=0,0,0,8,level=auto,constraint-set=1=1,keep-sei=137")
    let affected: [StreamProperty] = [.colour, .size, .level, .profile, .sei(.contentLightLevel), .sei(.pictureTiming)]
    let others: [StreamProperty] = [
      .chromaLocation, .shape, .rate, .tier, .layers, .sei(.masteringDisplayColourVolume),
    ]
    for property in affected { #expect(list.affects(property), "\(property)") }
    for property in others { #expect(!list.affects(property), "\(property)") }
    #expect(
      !StreamEdit.insertSEI(SEIInsertion(.recoveryPoint, payload: [], at: .keyframes)).affects(.sei(.pictureTiming)))
    #expect(StreamEdit.removeHRD.affects(.sei(.bufferingPeriod)))
    for (edit, kinds) in [
      (.removeMetadata(.captions), [.captions]), (.removeMetadata(.hdr10), [.hdr10]),
      (.removeSEI(.userDataRegistered), [.captions, .hdr10Plus]),
      (.keepSEI([.contentLightLevel]), [.captions, .hdr10Plus, .hdr10]),
      (.convertDolbyVision, [.dolbyVision]), (.removeSEI(.recoveryPoint), []),
    ] as [(StreamEdit, [RemovableMetadata])] {
      #expect(RemovableMetadata.allCases.filter { edit.affects(.metadata($0)) } == kinds, "\(edit)")
    }
    #expect(StreamEdit.removeMetadata(.hdr10).affects(.sei(.contentLightLevel)))
    #expect(!StreamEdit.removeMetadata(.captions).affects(.sei(.userDataRegistered)))
  }

  private static let unreadable: [(String, String)] = [
    ("color=bt709", "color=bt709: expected a field of edits"),
    ("range", "range: expected FIELD=VALUE"), (",", ": expected FIELD=VALUE"),
    ("range=wide", "range=wide: expected limited or full"),
    ("range=full,range=full", "range=full: the field was given before"),
    ("colour=bt709,colorimetry=bt2020", "colorimetry=bt2020: the field was given before"),
    ("remove-colour,range=full", "remove-colour: excludes other fields of colour"),
    ("level=9x", "level=9x: expected auto, or a level such as 4.1 or 1b"),
    ("crop=1,2,3", "crop=1,2,3: expected LEFT,RIGHT,TOP,BOTTOM"),
    ("latency=17", "latency=17: expected a number of pictures up to 16"),
    ("primaries=256", "primaries=256: expected a number of H.273 up to 255"),
    ("sample-aspect=0:1", "sample-aspect=0:1: expected WIDTH:HEIGHT"),
    ("remove-hrd=1", "remove-hrd=1: expected no value"),
    ("frame-rate=", "frame-rate: expected frames a second, such as 25, 29.97 or 30000/1001"),
    ("frame-rate=25.", "frame-rate=25.: expected frames a second, such as 25, 29.97 or 30000/1001"),
    ("remove-sei=unknown", "remove-sei=unknown: expected types of SEI messages by number or name, or none"),
    ("insert-sei=5=0", "insert-sei=5=0: expected TYPE=PAYLOAD, the payload in hexadecimal digits"),
    ("compatible-profile=32=1", "compatible-profile=32=1: expected N=0 or N=1, N from 0 to 31"),
    (
      "constraint=intra=1",
      "constraint=intra=1: expected NAME=0 or NAME=1, NAME one of progressive-source, interlaced-source, non-packed or frame-only"
    ),
    ("aud=yes", "aud=yes: expected insert, remove or keep"),
    ("remove=subtitles", "remove=subtitles: expected captions, hdr10plus, dolby-vision or hdr10, joined by commas"),
    ("dolby-vision=8.4", "dolby-vision=8.4: expected 8.1; dovi_tool converts to other profiles"),
    ("dolby-vision=8.1,remove=dolby-vision", "dolby-vision=8.1: excludes its removal"),
    ("constraint-set=6=1", "constraint-set=6=1: expected N=0 or N=1, N from 0 to 5"),
  ]

  @Test(arguments: unreadable) func namesTheFieldThatCannotBeRead(_ text: String, _ message: String) {
    let error = #expect(throws: StreamEditTextError.self) { try StreamEditList(text) }
    #expect(error?.description == message)
  }

  /// The lowest level that the parameter sets keep, by picture size, rate and bit rate.
  @Test func findsTheLowestLevel() throws {
    let profile = H265.Profile(idc: 1, constraints: [])
    func level(_ width: Int, _ height: Int, rate: UInt32?, bitRate: UInt64? = nil) -> StreamLevel? {
      var sps = H265.SequenceParameterSet(
        profileTierLevel: .init(profile: profile, levelIDC: 186), codedSize: VideoSize(width: width, height: height))
      sps.buffering = [.init(maximumDecodedPictures: 5, maximumReorderPictures: 2)]
      return H265.lowestLevel(
        of: [sps.nalUnit()], after: [], LevelDemand(frameRate: rate.flatMap { Ratio($0, 1) }, bitRate: bitRate))
    }
    #expect(level(1920, 1080, rate: nil) == StreamLevel(tenths: 40))
    #expect(level(1920, 1080, rate: 50) == StreamLevel(tenths: 41))
    #expect(level(1920, 1080, rate: 25, bitRate: 15_000_000) == StreamLevel(tenths: 41))
    #expect(level(128, 96, rate: 15) == StreamLevel(tenths: 10))
    #expect(level(128, 96, rate: 15, bitRate: 10_000_000_000) == nil)
    #expect(H265.lowestLevel(of: [], after: []) == nil)
    // The announced level is checked, too: picture size, and decoded picture buffer.
    var large = H265.SequenceParameterSet(
      profileTierLevel: .init(profile: profile, levelIDC: 30), codedSize: VideoSize(width: 1920, height: 1080))
    #expect(H265.lowestLevel(of: [large.nalUnit()], after: []) == StreamLevel(tenths: 40))
    large.profileTierLevel.levelIDC = 120
    large.buffering = [.init(maximumDecodedPictures: 7, maximumReorderPictures: 2)]
    #expect(H265.lowestLevel(of: [large.nalUnit()], after: []) == StreamLevel(tenths: 50))
  }
}
