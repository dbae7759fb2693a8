// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import GStreamer
import H26x
import SystemPackage

/// The changes that `edit` makes.
struct EditOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Primaries, transfer and matrix, by name or number.", valueName: "name"))
  var colour: ColourArgument?
  @Option(help: ArgumentHelp("Only colour_primaries.", valueName: "n")) var primaries: UInt8?
  @Option(help: ArgumentHelp("Only transfer_characteristics.", valueName: "n")) var transfer: UInt8?
  @Option(help: ArgumentHelp("Only matrix_coefficients.", valueName: "n")) var matrix: UInt8?
  @Option(help: "limited or full.") var range: RangeArgument?
  @Flag(help: "Remove video format, range and colour.") var removeColour = false
  @Option(help: "left, center, top-left, top, bottom-left or bottom.") var chromaLocation: ChromaLocationArgument?
  @Option(help: ArgumentHelp("Sample aspect ratio, width to height, such as 64:45.", valueName: "w:h"))
  var sampleAspect: AspectArgument?
  @Option(help: ArgumentHelp("Frames per second in the stream; a container's times stay the same.", valueName: "rate"))
  var frameRate: FrameRateArgument?
  @Option(help: "component, pal, ntsc, secam, mac or unspecified.") var videoFormat: VideoFormatArgument?
  @Option(help: "show or crop: whether overscan is appropriate.") var overscan: OverscanArgument?
  @Option(help: ArgumentHelp("Margins that are cropped from the coded picture, in luma samples.", valueName: "l,r,t,b"))
  var crop: CropArgument?
  @Option(help: ArgumentHelp("The level, such as 4.1 or 1b, or auto.", valueName: "level")) var level: LevelArgument?
  @Option(help: "The tier of H.265: main or high.") var tier: TierArgument?
  @Option(help: ArgumentHelp("A constraint flag of H.264, such as 1=1; may be repeated.", valueName: "n=0|1"))
  var constraintSet: [ConstraintArgument] = []
  @Option(
    help: ArgumentHelp(
      "Whether decoders of another profile of H.265 can decode the stream, such as 2=1; may be repeated.",
      valueName: "n=0|1"))
  var compatibleProfile: [CompatibleProfileArgument] = []
  @Option(
    help: ArgumentHelp(
      "A constraint flag of H.265, \(H265.SourceConstraint.list), such as frame-only=1; may be repeated.",
      valueName: "name=0|1"))
  var constraint: [SourceConstraintArgument] = []
  @Option(help: "Access unit delimiters: insert, remove or keep.") var aud: DelimiterArgument?
  @Flag(help: "Remove HRD parameters, and everything that depends on them.") var removeHRD = false
  @Flag(help: "Remove the layers and views above the base layer, such as the second view of MV-HEVC.")
  var removeLayers = false
  @Option(
    help: ArgumentHelp("How many pictures wait for a picture that is decoded later: a number, or auto.", valueName: "n")
  )
  var latency: LatencyArgument?
  @Option(
    name: .customLong("remove-sei"), help: ArgumentHelp("Remove SEI messages of these types.", valueName: "types"))
  var removeSEI: SEITypesArgument?
  @Option(
    name: .customLong("keep-sei"),
    help: ArgumentHelp("Remove SEI messages of all other types; none removes all.", valueName: "types"))
  var keepSEI: SEITypesArgument?
  @Option(
    name: .customLong("insert-sei"),
    help: ArgumentHelp("Add an SEI message to every keyframe, its payload in hexadecimal.", valueName: "type=hex"))
  var insertSEI: [SEIMessageArgument] = []
  @Option(
    name: .customLong("insert-sei-from"),
    help: ArgumentHelp(
      "Add the SEI messages of a file, as inspect --sei lists them, to the access units that it names.",
      valueName: "file"),
    completion: .file(), transform: FilePath.init(argument:))
  var insertSEIFrom: FilePath?

  func validate() throws {
    guard !list.isEmpty || aud != nil || latency != nil || level != nil || insertSEIFrom != nil else {
      throw ValidationError("nothing to change: expected an edit")
    }
    guard !removeColour || colour == nil && primaries == nil && transfer == nil && matrix == nil && range == nil else {
      throw ValidationError("--remove-colour and another option about colour exclude each other")
    }
  }

  /// The edits, except for the latency, which is measured first.
  var list: [StreamEdit] {
    var edits: [StreamEdit] = []
    if removeColour { edits.append(.removeVideoSignal) }
    if let colour { edits.append(.colour(colour.colour)) }
    if let primaries { edits.append(.primaries(primaries)) }
    if let transfer { edits.append(.transfer(transfer)) }
    if let matrix { edits.append(.matrix(matrix)) }
    if let range { edits.append(.fullRange(range == .full)) }
    if let videoFormat { edits.append(.videoFormat(videoFormat.code)) }
    if let chromaLocation { edits.append(.chromaLocation(chromaLocation.location)) }
    if let sampleAspect { edits.append(.sampleAspectRatio(sampleAspect.ratio)) }
    if let overscan { edits.append(.overscanAppropriate(overscan == .crop)) }
    if let frameRate, let numerator = UInt32(exactly: frameRate.rate.numerator),
      let denominator = UInt32(exactly: frameRate.rate.denominator)
    {
      edits.append(.frameRate(Ratio(numerator, denominator)))
    }
    if let crop { edits.append(.crop(crop.margins)) }
    if removeHRD { edits.append(.removeHRD) }
    if removeLayers { edits.append(.removeLayers) }
    edits += constraintSet.map { .constraintSet($0.set, $0.value) }
    edits += compatibleProfile.map { .compatibleProfile($0.profile, $0.value) }
    edits += constraint.map { .sourceConstraint($0.constraint, $0.value) }
    if let tier, tier == .main { edits.append(.highTier(false)) }
    if case .named(let level) = level { edits.append(.level(level)) }
    if let tier, tier == .high { edits.append(.highTier(true)) }
    edits += aud?.edits ?? []
    edits += removeSEI?.types.map { .removeSEI($0) } ?? []
    if let keepSEI { edits.append(.keepSEI(Set(keepSEI.types))) }
    edits += insertSEI.map { .insertSEI(SEIInsertion($0.type, payload: $0.payload, at: .keyframes)) }
    return edits
  }
}
