// SPDX-License-Identifier: MPL-2.0
import ArgumentParser
import Containers
import GStreamer
import H26x
import SystemPackage

/// The changes that `edit` makes, as text for ``StreamEditList``.
struct EditOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Primaries, transfer and matrix, by name or number.", valueName: "name"))
  var colour: String?
  @Option(help: ArgumentHelp("Only colour_primaries.", valueName: "n")) var primaries: String?
  @Option(help: ArgumentHelp("Only transfer_characteristics.", valueName: "n")) var transfer: String?
  @Option(help: ArgumentHelp("Only matrix_coefficients.", valueName: "n")) var matrix: String?
  @Option(help: "limited or full.", completion: .words(.range)) var range: String?
  @Flag(help: "Remove video format, range and colour.") var removeColour = false
  @Option(help: "left, center, top-left, top, bottom-left or bottom.", completion: .words(.chromaLocation))
  var chromaLocation: String?
  @Option(help: ArgumentHelp("Sample aspect ratio, width to height, such as 64:45.", valueName: "w:h"))
  var sampleAspect: String?
  @Option(help: ArgumentHelp("Frames per second in the stream; a container's times stay the same.", valueName: "rate"))
  var frameRate: FrameRateArgument?
  @Option(help: "component, pal, ntsc, secam, mac or unspecified.", completion: .words(.videoFormat))
  var videoFormat: String?
  @Option(help: "show or crop: whether overscan is appropriate.", completion: .words(.overscan)) var overscan: String?
  @Option(help: ArgumentHelp("Margins that are cropped from the coded picture, in luma samples.", valueName: "l,r,t,b"))
  var crop: String?
  @Option(help: ArgumentHelp("The level, such as 4.1 or 1b, or auto.", valueName: "level")) var level: String?
  @Option(help: "The tier of H.265: main or high.", completion: .words(.tier)) var tier: String?
  @Option(help: ArgumentHelp("A constraint flag of H.264, such as 1=1; may be repeated.", valueName: "n=0|1"))
  var constraintSet: [String] = []
  @Option(
    help: ArgumentHelp(
      "Whether decoders of another profile of H.265 can decode the stream, such as 2=1; may be repeated.",
      valueName: "n=0|1"))
  var compatibleProfile: [String] = []
  @Option(
    help: ArgumentHelp(
      "A constraint flag of H.265, \(H265.SourceConstraint.list), such as frame-only=1; may be repeated.",
      valueName: "name=0|1"))
  var constraint: [String] = []
  @Option(help: "Access unit delimiters: insert, remove or keep.", completion: .words(.delimiters)) var aud: String?
  @Flag(help: "Remove HRD parameters, and everything that depends on them.") var removeHRD = false
  @Flag(help: "Remove the layers and views above the base layer, such as the second view of MV-HEVC.")
  var removeLayers = false
  @Option(
    help: ArgumentHelp("How many pictures wait for a picture that is decoded later: a number, or auto.", valueName: "n")
  )
  var latency: String?
  @Option(
    name: .customLong("remove-sei"), help: ArgumentHelp("Remove SEI messages of these types.", valueName: "types"))
  var removeSEI: String?
  @Option(
    name: .customLong("keep-sei"),
    help: ArgumentHelp("Remove SEI messages of all other types; none removes all.", valueName: "types"))
  var keepSEI: String?
  @Option(help: ArgumentHelp("Remove metadata: \(RemovableMetadata.expected).", valueName: "kinds"))
  var remove: [String] = []
  @Option(
    help: ArgumentHelp(
      "8.1 converts Dolby Vision of profile 7; record only makes the container's record from the stream.",
      valueName: "8.1|record"),
    completion: .list(["8.1", "record"]))
  var dolbyVision: String?
  @Option(
    name: .customLong("insert-sei"),
    help: ArgumentHelp("Add an SEI message to every keyframe, its payload in hexadecimal.", valueName: "type=hex"))
  var insertSEI: [String] = []
  @Option(
    name: .customLong("insert-sei-from"),
    help: ArgumentHelp(
      "Add the SEI messages of a file, as inspect --sei lists them, to the access units that it names.",
      valueName: "file"),
    completion: .file(), transform: FilePath.init(argument:))
  var insertSEIFrom: FilePath?

  func validate() throws {
    let contradiction: String?
    do throws(StreamEditTextError) { contradiction = try self.contradiction } catch {
      throw ValidationError("--\(error.field)\(error.value.isEmpty ? "" : " \(error.value)"): \(error.requirement)")
    }
    if let contradiction { throw ValidationError("\(contradiction) exclude each other") }
  }

  /// Options that exclude each other; `nil` if none do.
  private var contradiction: String? {
    get throws(StreamEditTextError) {
      let removal = try StreamEditList(remove.map { (field: .remove, value: Array($0.utf8)[...]) })
      if let dolbyVision, removal.affects(.metadata(.dolbyVision)) {
        return "--dolby-vision \(dolbyVision) and --remove dolby-vision"
      }
      var (kept, removed): (Set<SEIPayloadType>, Set<SEIPayloadType>) = ([], [])
      for edit in try list.edits {
        switch edit {
        case .keepSEI(let types): kept = types
        case .removeSEI(let type): removed.insert(type)
        default: break
        }
      }
      return kept.isDisjoint(with: removed) ? nil : "--remove-sei and --keep-sei of the same type"
    }
  }

  /// Whether there is no edit.
  var isEmpty: Bool {
    get throws(StreamEditTextError) { try list.isEmpty && aud == nil && insertSEIFrom == nil && !renewsRecord }
  }

  /// Whether the container's configuration of Dolby Vision is made from the stream.
  var renewsRecord: Bool { dolbyVision == "record" }

  /// The edits, except for those in the file of SEI messages.
  var list: StreamEditList {
    get throws(StreamEditTextError) {
      let texts: [(field: StreamEditField, values: [String?])] = [
        (.removeColour, [removeColour ? "" : nil]), (.colour, [colour]), (.primaries, [primaries]),
        (.transfer, [transfer]), (.matrix, [matrix]), (.range, [range]), (.videoFormat, [videoFormat]),
        (.chromaLocation, [chromaLocation]), (.sampleAspect, [sampleAspect]), (.overscan, [overscan]),
        (.frameRate, [frameRate.map { "\($0.rate.numerator)/\($0.rate.denominator)" }]), (.crop, [crop]),
        (.removeHRD, [removeHRD ? "" : nil]), (.removeLayers, [removeLayers ? "" : nil]),
        (.constraintSet, constraintSet), (.compatibleProfile, compatibleProfile), (.constraint, constraint),
        (.latency, [latency == "auto" ? "measured" : latency]), (.level, [level]), (.tier, [tier]),
        (.delimiters, [aud]), (.removeSEI, [removeSEI]), (.keepSEI, [keepSEI]), (.remove, remove),
        (.dolbyVision, [renewsRecord ? nil : dolbyVision]), (.insertSEI, insertSEI),
      ]
      return try StreamEditList(
        texts.flatMap { field, values in
          values.compactMap { $0.map { (field: field, value: Array($0.utf8)[...]) } }
        })
    }
  }
}

extension CompletionKind {
  /// The words that are values of a field.
  fileprivate static func words(_ field: StreamEditField) -> Self { .list(field.words.map(\.description)) }
}
