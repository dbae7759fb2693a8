// SPDX-License-Identifier: MPL-2.0
import AVFormat
package import GStreamer
import H26x

/// How files are joined: the parameter sets of each in the description of all, and how each begins.
package struct JoinPlan: Sendable {
  /// The parameter sets of an input in the target.
  struct ParameterSets: Sendable, Hashable {
    /// Those that the target has of an earlier input.
    var sharedCount = 0
    /// The sets with other ids: the kind, the id in the input, and the id in the target.
    var renumbered: [Renumbering] = []
  }

  struct Renumbering: Sendable, Hashable {
    let name: ParameterSetName
    let id: UInt8
  }

  /// In the order of the target.
  package let inputs: [JoinInput]
  /// How each begins.
  let mode: [Window.Bounds.Mode]
  let description: JoinedDescription
  /// Of each input.
  private(set) var parameterSets: [ParameterSets]
  /// Why parameter sets stay with their pictures in a container that has a description of the video; `nil` if they do
  /// not.
  private(set) var inBandReason: String?

  /// - Parameters:
  ///   - inputs: at least one.
  ///   - isSeekable: whether the target is a file.
  /// - Throws: a `Failure` for inputs of different codecs, chroma formats or bit depths.
  package init(_ inputs: [JoinInput], for container: TargetContainer, isSeekable: Bool) throws(Failure) {
    guard let first = inputs.first else { throw Failure("no input", .usage) }
    for input in inputs.dropFirst() { try Self.check(input, behind: first) }
    self.inputs = inputs
    mode = inputs.map { input in
      // Nothing is in front of a keyframe that begins a file.
      guard input.hidesPictures else { return .keyframe }
      return container.isMovie && isSeekable ? .hidden : isSeekable ? .exact : .keyframe
    }
    var description = JoinedDescription(codec: first.codec)
    // An access unit of a byte stream lasts a frame, or half of it.
    description.timeBase = JoinedDescription.timeBase(
      inputs.compactMap { input in
        input.timescale ?? input.frameRate.map { Int32(clamping: Int64($0.numerator) * 2) }
      })
    description.hasOneRate = Set(inputs.map { $0.frameRate.map { [$0.numerator, $0.denominator] } }).count == 1
    parameterSets = inputs.map { _ in ParameterSets() }
    if !container.hasStartCodes {
      switch first.codec {
      case .h264: (parameterSets, inBandReason) = Self.describe(inputs, &description, H264.self)
      case .h265: (parameterSets, inBandReason) = Self.describe(inputs, &description, H265.self)
      }
    }
    self.description = description
  }

  /// Adds the parameter sets of all inputs to the description, or none if they do not fit into one.
  private static func describe<Codec: JoinSyntax>(
    _ inputs: [JoinInput], _ description: inout JoinedDescription, _ codec: Codec.Type
  ) -> (sets: [ParameterSets], inBandReason: String?) {
    var union = ParameterSetUnion<Codec>()
    var (joined, counts): ([JoinedDescription.Input], [ParameterSets]) = ([], [])
    var name = ""
    func inBand(_ reason: String) -> (sets: [ParameterSets], inBandReason: String?) {
      (inputs.map { _ in ParameterSets() }, reason)
    }
    do throws(ParameterSetUnion<Codec>.Obstacle) {
      for input in inputs {
        name = input.file.name
        let sets: [[UInt8]]
        do throws(BitstreamError) { sets = try input.parameterSets(codec) } catch { throw .unreadable }
        let addition = try union.add(sets)
        joined.append(.init(parameterSets: sets, identifiers: addition.identifiers))
        counts.append(
          ParameterSets(
            sharedCount: addition.shared.count,
            renumbered: addition.renumbered.map { .init(name: $0, id: addition.identifiers[$0]) }))
      }
    } catch {
      switch error {
      case .changes: return inBand("\(name) has several parameter sets with one id")
      case .idsExhausted: return inBand("there are more parameter sets than ids")
      case .unreadable: return inBand("a parameter set of \(name) cannot be read")
      }
    }
    do throws(BitstreamError) {
      var records: [Codec.ConfigurationRecord] = []
      for record in inputs.flatMap(\.records) { records.append(try Codec.ConfigurationRecord(record.span)) }
      description.configuration = try Codec.record(joining: records, union.nalUnits).bytes()
    } catch { return inBand("there are more parameter sets than the container can describe") }
    description.inputs = joined
    return (counts, nil)
  }

  /// The plan of the copy.
  ///
  /// - Parameters:
  ///   - framerate: of byte streams that have none.
  ///   - quality: see ``CopyPlan/quality``.
  package func copy(
    to target: OutputFile, _ container: TargetContainer, framerate: Fraction?, keepsAudio: Bool, quality: Double
  ) -> CopyPlan {
    CopyPlan(
      input: inputs[0].file, target: target, container: container, framerate: framerate, keepsAudio: keepsAudio,
      quality: quality
    ).joining(zip(inputs, mode).map { ($0.file, $0.bounds($1)) }, description)
  }

  // MARK: Differences

  private static func check(_ input: JoinInput, behind first: JoinInput) throws(Failure) {
    func values(_ format: FormatDescription) -> [(value: String, other: String)] {
      let depths = { (format: FormatDescription) in
        format.lumaBitDepth == format.chromaBitDepth || format.chromaFormat == .monochrome
          ? "\(format.lumaBitDepth) bits" : "\(format.lumaBitDepth) bits of luma and \(format.chromaBitDepth) of chroma"
      }
      return [
        (input.codec.name, first.codec.name), (input.format.chromaFormat.name, first.format.chromaFormat.name),
        (depths(input.format), depths(first.format)),
      ]
    }
    for (value, other) in values(input.format) where value != other {
      throw Failure(
        "\(input.file.name): \(value), but \(first.file.name) has \(other); joined files have one codec, chroma format and "
          + "bit depth")
    }
  }

  /// Lines about differences that players see, for the user.
  package var remarks: [String] {
    var remarks: [String] = []
    if let sizes = differences(in: { "\($0.format.croppedSize.width)x\($0.format.croppedSize.height)" }) {
      remarks.append("the picture size changes: \(sizes)")
    }
    if let ranges = differences(in: { Text.dynamicRange(transfer: $0.format.colour?.transfer) }) {
      remarks.append("the dynamic range changes: \(ranges)")
    }
    // A container has one rotation for all pictures.
    if let rotations = differences(in: { Self.rotation($0.direction) }) {
      remarks.append("the rotation differs: \(rotations); all pictures get that of \(inputs[0].file.name)")
    }
    if let inBandReason { remarks.append("parameter sets stay with their pictures, because \(inBandReason)") }
    return remarks
  }

  /// The values of all inputs, each with the first input that has it; `nil` if they are equal.
  private func differences(in value: (JoinInput) -> String) -> String? {
    var groups: [(value: String, names: [String])] = []
    for input in inputs {
      let value = value(input)
      if let place = groups.firstIndex(where: { $0.value == value }) {
        groups[place].names.append(input.file.name)
      } else {
        groups.append((value, [input.file.name]))
      }
    }
    guard groups.count > 1 else { return nil }
    return Text.list(
      groups.map { value, names in
        let others = names.count > 1 ? " and \(Text.count(names.count - 1, "other"))" : ""
        return "\(value) (\(names[0])\(others))"
      })
  }

  /// - Parameter direction: see ``VideoTrack/direction``.
  private static func rotation(_ direction: String?) -> String {
    switch direction {
    case nil: "upright"
    case "90r": "90 degrees clockwise"
    case "180": "180 degrees"
    case "90l": "90 degrees counterclockwise"
    default: "mirrored"
    }
  }
}
