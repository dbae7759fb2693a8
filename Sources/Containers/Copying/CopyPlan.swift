// SPDX-License-Identifier: MPL-2.0
package import GStreamer
import H26x
import StreamReport

/// A copy of a file's video and its other streams in another container or packaging. The subcommand
/// sets the request. ``decided()`` adds how it is done, by the container's index and the first pictures.
///
/// A pass that cannot be completed is followed by another plan, of ``retry(after:)``. Every step goes one way, so there
/// is an end:
///
/// ```
/// packaging   as they are ──▶ out of band ──▶ in band
/// start       near ──▶ front
/// times       the container's ──▶ the order of pictures
/// gaps        as the SPS have it ──▶ allowed
/// entries     intra pictures, too ──▶ later ones ──▶ promised ones only
/// mode        exact ──▶ hidden, or keyframe, of each range
/// beginning   anew ──▶ closed, or as it is in a join, of each range behind another that cannot be verified
/// ```
package struct CopyPlan {
  package var input: InputFile
  package let target: OutputFile
  package let container: TargetContainer
  /// The frame rate of a byte stream that has none.
  package var framerate: Fraction?
  /// The option that gives it, for the user.
  package var framerateOption: String
  /// Kinds of NAL units, joined by +.
  package var drop: String?
  package var keepsAudio: Bool
  /// The quality of encoded pictures; see `EncoderSettings.quality`.
  package var quality: Double
  /// Whether a range with gradual refreshes only, which has no place to copy from, is encoded as a whole.
  package var encodesAll = false
  /// The duration that segments of a playlist have at least if keyframes allow it, in nanoseconds.
  package var segmentDuration: Int64 = 6_000_000_000
  /// The ranges that are kept, one after the other; one without bounds for everything.
  private(set) var ranges: [Range]
  /// The inputs of a join, the first of which is ``input``; empty for a copy of one input.
  private(set) var joinedInputs: [InputFile] = []
  /// How one description of the video serves them; `nil` for a copy of one input.
  private(set) var joined: JoinedDescription?

  /// - Parameters:
  ///   - quality: of pictures that exact cuts encode, from 1, the best, to 51.
  ///   - bounds: the ranges that are kept, in the order of the copy; none for everything. Several need a file, because
  ///     each is read by itself.
  package init(
    input: InputFile, target: OutputFile, container: TargetContainer, framerate: Fraction? = nil,
    framerateOption: String = "--framerate", drop: String? = nil, keepsAudio: Bool = true, quality: Double = 18,
    bounds: [Window.Bounds] = []
  ) {
    (self.input, self.target, self.container) = (input, target, container)
    (self.framerate, self.framerateOption, self.drop, self.keepsAudio) = (framerate, framerateOption, drop, keepsAudio)
    self.quality = quality
    ranges = Self.following(bounds.isEmpty ? [Range(bounds: nil)] : bounds.map { Range(bounds: $0) }, .anew)
  }

  /// Ranges behind one another.
  ///
  /// - Parameter beginning: of all but the first.
  private static func following(_ ranges: [Range], _ beginning: Window.Bounds.Beginning) -> [Range] {
    var ranges = ranges
    for index in ranges.indices.dropFirst() { ranges[index].bounds?.beginning = beginning }
    return ranges
  }

  /// The plan that joins inputs, each with the ranges of it that are kept.
  ///
  /// - Parameters:
  ///   - inputs: the first of them is ``input``.
  ///   - description: has no configuration record if parameter sets stay with their pictures.
  func joining(_ inputs: [(file: InputFile, bounds: [Window.Bounds])], _ description: JoinedDescription) -> CopyPlan {
    var plan = self
    (plan.joinedInputs, plan.joined) = (inputs.map(\.file), description)
    plan.ranges = Self.following(
      inputs.enumerated().flatMap { number, input in
        input.bounds.map { Range(inputNumber: number, bounds: $0) }
      }, .anewIfPossible)
    if description.configuration == nil, !container.hasStartCodes { plan.packaging = .inBand }
    return plan
  }

  /// The input that a range is of.
  func input(of range: Range) -> InputFile {
    joinedInputs.indices.contains(range.inputNumber) ? joinedInputs[range.inputNumber] : input
  }

  /// All inputs, in the order of the copy.
  var inputs: [InputFile] { joinedInputs.isEmpty ? [input] : joinedInputs }

  /// A range of the source. Each is read by itself.
  struct Range {
    /// The number of its input in a join, from 0.
    fileprivate(set) var inputNumber = 0
    /// `nil` for everything.
    fileprivate(set) var bounds: Window.Bounds?
    /// The bounds that were requested, if pictures at an end are left out because of damage; `nil` otherwise.
    fileprivate(set) var requested: Window.Bounds?
    /// Why it is not cut exactly, as requested; `nil` if it is, or another mode was requested.
    fileprivate(set) var obstacle: SeamObstacle?
    /// Why decoding begins with an earlier picture than with the last random access point; `nil` if it does not.
    fileprivate(set) var beginningObstacle: SeamObstacle?
    /// The place at which reading begins.
    fileprivate(set) var start = Start.front
  }

  /// How access units come into the copy.
  enum Packaging: Sendable {
    /// Samples are copied, without parameter sets that the configuration record also has.
    case asTheyAre
    /// They are taken apart. Parameter sets are in the description of the video, if the container has one.
    case outOfBand
    /// They are taken apart, and parameter sets stay with their pictures.
    case inBand
  }

  /// The place at which reading begins.
  enum Start: Sendable {
    case front
    /// A place in front of the window's start, and the time of the first picture, both in nanoseconds of the media.
    case near(place: Int64, origin: Int64)

    var isNear: Bool { if case .near = self { true } else { false } }
  }

  private(set) var packaging = Packaging.outOfBand
  /// Whether SPS of H.264 get the permission of gaps in `frame_num`.
  private(set) var allowsFrameNumberGaps = false
  /// How many intra pictures that promise nothing were no entries.
  private var refusedEntryCount = 0
  /// Each costs a pass.
  static let refusedEntryLimit = 2
  /// Whether access units are only listed.
  private(set) var surveys = false
  /// The number of access units that are listed at least, if the source has so many.
  private(set) var surveyCount = Int.max
  /// Times are derived from the order of pictures, because the container lacks some.
  private(set) var ordersPictures = false

  /// Whether pictures can be hidden in the copy.
  var hasEditList: Bool { container.hasEditList(in: target) }

  /// Whether the description of the video is completed behind the muxer.
  var completesDescription: Bool { hasEditList || container == .hls }

  /// Whether a part of what the source shows was requested.
  var isCut: Bool { surveys || ranges.contains { $0.bounds != nil } }

  /// Whether pictures may have to be encoded.
  var mayEncode: Bool { ranges.contains { $0.bounds?.mode == .exact } }
  /// Whether pictures come together that are apart in the source, or that is surveyed.
  var hasSeams: Bool { surveys || ranges.count > 1 || mayEncode }

  /// The plan that lists the access units of the whole source, or only those by which the first picture is found.
  func surveying(untilFirstPicture isShort: Bool) -> CopyPlan {
    var plan = self
    (plan.ranges, plan.surveys) = ([Range(bounds: nil)], true)
    if isShort { plan.surveyCount = Self.searchCount }
    return plan
  }

  // MARK: Before the first pass

  /// The pictures by which packaging is decided.
  private static let trialCount = 34
  /// The pictures among which the first one that is shown is looked for.
  private static let searchCount = 1024

  /// The plan with packaging and start, as far as they can be known before the first pass.
  ///
  /// - Throws: a `Failure` if the container has no times, but the copy needs them.
  func decided() throws(Failure) -> CopyPlan {
    for input in inputs where (container != .annexb || isCut) && input.kind == .container(.avi) {
      // Reports errors of the video first.
      _ = try input.videoTrack()
      throw Failure(
        "\(input.name): AVI does not store when pictures are shown, which \(container.name) needs; first make a byte "
          + "stream (-o FILE.h264), then repackage that")
    }
    var plan = self
    // Pipes allow no other pass.
    if !target.isSeekable || inputs.contains(where: { $0.size == nil }) {
      plan.refuseEntries(upTo: .max, from: 0)
      plan.allowsFrameNumberGaps = ranges.count > 1 || mayEncode
    }
    if joined != nil { return try plan.planningSamples() }
    guard !input.isRaw, input.size != nil, canCopySamples || input.hasIndex && isCut else { return plan }
    do throws(Failure) {
      for number in ranges.indices where number == 0 || input.hasIndex {
        let bounds = ranges[number].bounds
        let (reader, within) = try CopySource.reader(ContainerFile(input, ReadingStatus()), bounds)
        // A place may be too late, and what is in a pipe stays.
        plan.decide(number, reader, input.hasIndex && (number == 0 || target.isSeekable) ? within : nil)
      }
    } catch {
      // The first pass reports what it cannot read, unless it is something else.
    }
    return plan
  }

  /// The plan of a join, which copies samples if all inputs allow it.
  private func planningSamples() throws(Failure) -> CopyPlan {
    var plan = self
    guard packaging != .inBand, target.isSeekable, drop == nil, !container.hasStartCodes,
      inputs.allSatisfy({ !$0.isRaw && !$0.hasClock })
    else { return plan }
    for input in inputs {
      let reader = try ContainerReader.reader(ContainerFile(input, ReadingStatus()))
      guard var copy = SampleCopy(reader.track) else { return plan }
      do throws(CopyRefusal) {
        for _ in 0..<Self.trialCount {
          guard let sample = try CopyRefusal.failing({ () throws(Failure) in try reader.next() }) else { break }
          _ = try copy.accessUnit(sample)
        }
      } catch { return plan }
    }
    plan.packaging = .asTheyAre
    return plan
  }

  /// Whether samples may be copied as they are. Bytes in a pipe cannot be rewritten.
  private var canCopySamples: Bool {
    target.isSeekable && drop == nil && !container.hasStartCodes && !input.hasClock
  }

  /// Reads the first samples for a range. If they show no place to begin at, or an error, it begins at the front.
  private mutating func decide(_ number: Int, _ reader: any VideoTrackReader, _ bounds: Window.Bounds?) {
    var copy = number == 0 && canCopySamples ? SampleCopy(reader.track) : nil
    var (window, roles, spacing) = (Window(bounds, of: reader.shown), reader.track.roleReader, PictureSpacing())
    var count = 0
    while count < Self.trialCount && copy != nil
      || count < Self.searchCount && bounds != nil && window.isSearching && window.origin == nil
    {
      let next: VideoSample?
      do throws(Failure) { next = try reader.next() } catch { break }
      guard let sample = next else { break }
      count += 1
      do throws(CopyRefusal) { _ = try copy?.accessUnit(sample) } catch { copy = nil }
      if sample.packaging != nil { roles = reader.track.roleReader }
      guard bounds != nil else { continue }
      let role = roles.role(of: sample.bytes)
      guard let time = sample.composition else { break }
      spacing.add(time)
      let duration = sample.duration > 0 ? sample.duration : spacing.duration
      do throws(CopyRefusal) {
        _ = try window.take(
          MediaOutput.AccessUnit(
            bytes: [], presentation: time, decoding: time, duration: duration, isKeyframe: role.isKeyframe, role: role))
      } catch { break }
    }
    if copy != nil { packaging = .asTheyAre }
    if let origin = window.origin, let place = window.distantStart {
      ranges[number].start = .near(place: place, origin: origin)
    }
  }

  // MARK: After a pass

  /// The plan for the next pass.
  ///
  /// - Parameter number: of the range that was read.
  /// - Throws: a `Failure` if no plan is left.
  func retry(after refusal: CopyRefusal, in number: Int) throws(Failure) -> CopyPlan {
    var next = self
    switch refusal {
    case .missed: next.ranges[number].start = .front
    case .seam(.frameNumberGaps) where canAllowFrameNumberGaps,
      .entry(_, .frameNumberGaps) where canAllowFrameNumberGaps:
      next.allowsFrameNumberGaps = true
    case .entry(let time, _):
      next.refusedEntryCount += 1
      next.refuseEntries(upTo: next.refusedEntryCount < Self.refusedEntryLimit ? time : .max, from: number)
    case .damage(let start, let end) where input.size != nil && target.isSeekable:
      next.ranges[number].requested = ranges[number].requested ?? ranges[number].bounds
      next.ranges[number].bounds?.start = start
      next.ranges[number].bounds?.end = end
    case .damage: try next.giveUpExactCuts(from: number, .damage)
    case .seam(let obstacle) where ranges[number].bounds?.mode != .exact: try next.beginEarlier(number, obstacle)
    case .seam(let obstacle): try next.giveUpExactCuts(from: number, obstacle)
    case .failure(let failure):
      // Perhaps only the place is wrong.
      guard ranges[number].start.isNear, target.isSeekable, Interruption.signal == nil else { throw failure }
      next.ranges[number].start = .front
    case _ where packaging == .asTheyAre: next.packaging = .outOfBand
    case .formatChange, .irregular:
      // One description of the video is not enough: parameter sets stay with their pictures.
      guard packaging == .outOfBand, target.isSeekable, input.size != nil else { throw changing }
      next.packaging = .inBand
      // No input's sets get other ids then.
      next.joined?.configuration = nil
      next.joined?.inputs = []
    case .untimed:
      guard input.hasClock, input.size != nil, target.isSeekable, !isCut, !ordersPictures else {
        throw untimed(
          framerate == nil
            ? "and the stream has no frame rate: set it with \(framerateOption), such as 25"
            : "and \(framerateOption) does not help: their order cannot be read")
      }
      next.ordersPictures = true
    case .gap: throw untimed("and they cannot be derived, because there are gaps between the others")
    }
    return next
  }

  private var canAllowFrameNumberGaps: Bool { !allowsFrameNumberGaps && input.size != nil && target.isSeekable }

  /// - Parameters:
  ///   - time: of the media. At `.max`, this and all later ranges begin copying with promised entries only.
  ///   - number: of the range.
  private mutating func refuseEntries(upTo time: Int64, from number: Int) {
    for index in ranges.indices[number...] where index == number || time == .max {
      ranges[index].bounds?.refusedTime = time
    }
  }

  /// Cuts a range by the next mode. If all others with seams would follow one by one, they are cut so as well: hiding
  /// shows the same pictures.
  private mutating func giveUpExactCuts(from number: Int, _ obstacle: SeamObstacle) throws(Failure) {
    guard input.size != nil, target.isSeekable else {
      throw Self.failure(target.name, notExact: obstacle.text)
    }
    let hides = hasEditList
    for index in ranges.indices[number...] where ranges[index].bounds?.mode == .exact {
      guard index == number || obstacle.isOfStream && hides else { break }
      if let requested = ranges[index].requested { (ranges[index].bounds, ranges[index].requested) = (requested, nil) }
      ranges[index].bounds?.mode = hides ? .hidden : .keyframe
      ranges[index].obstacle = obstacle
    }
  }

  /// The failure of an exact cut of or into a pipe, for a reason that is a clause.
  static func failure(_ target: String, notExact reason: String) -> Failure {
    Failure("\(target): cannot be cut exactly, because \(reason); use files, or --mode keyframe for a pipe")
  }

  /// Lets a range that is not cut exactly, behind another, begin with another picture, because it cannot begin with its
  /// recovery point.
  private mutating func beginEarlier(_ number: Int, _ obstacle: SeamObstacle) throws(Failure) {
    let (range, isLast) = (ranges[number], [.noEntry, .distantEntry].contains(obstacle))
    let isChangeable = range.bounds.map { [.anew, .anewIfPossible].contains($0.beginning) } ?? false
    let canBeginAgain = input.size != nil && target.isSeekable
    guard isChangeable, !isLast, canBeginAgain else {
      let name = joined == nil ? range.bounds.map(Self.text) : nil
      throw Self.failure(
        target.name, name ?? input(of: range).name, range.beginningObstacle ?? (isLast ? .recoveryPoint : obstacle),
        isLast ? obstacle : canBeginAgain ? .noEntry : nil)
    }
    ranges[number].bounds?.beginning = joined == nil ? .closed : .asItIs
    ranges[number].beginningObstacle = obstacle
  }

  /// The failure of a copy because a range cannot follow another.
  ///
  /// - Parameters:
  ///   - name: of the range.
  ///   - obstacle: why it does not begin with its recovery point.
  ///   - last: why it does not begin with an earlier picture; `nil` for a pipe, in which nothing can be written again.
  static func failure(_ target: String, _ name: String, _ obstacle: SeamObstacle, _ last: SeamObstacle?) -> Failure {
    Failure(
      "\(target): \(name) cannot follow another range, because \(obstacle.beginningText), and "
        + (last.map { "\($0.text); write the range into a file of its own" }
          ?? "a pipe is written once; write into a file"))
  }

  /// A line for the user about a range that begins with an earlier picture than the last random access point in front of
  /// it.
  ///
  /// - Parameters:
  ///   - number: of the range.
  ///   - obstacle: the reason.
  func remark(onEarlyBeginning number: Int, _ obstacle: SeamObstacle) -> String? {
    guard ranges.indices.contains(number), let bounds = ranges[number].bounds, joined == nil else { return nil }
    return "\(Self.text(bounds)): decoding begins with an earlier keyframe, because \(obstacle.beginningText)"
  }

  /// The ranges whose beginning was changed by an earlier pass, for the user.
  private var earlyBeginnings: [String] {
    ranges.indices.compactMap { number in
      let range = ranges[number]
      guard range.bounds?.mode != .exact, let obstacle = range.beginningObstacle else { return nil }
      return remark(onEarlyBeginning: number, obstacle)
    }
  }

  /// A range for the user.
  static func text(_ bounds: Window.Bounds) -> String {
    let end = bounds.end.map { Text.time(ClockTime(positive: $0)) } ?? ""
    return "range \(Text.time(ClockTime(positive: bounds.start)))-\(end)"
  }

  /// The ranges that lack pictures next to damage, for the user.
  private var damage: [String] {
    ranges.compactMap { range in
      guard let requested = range.requested, let bounds = range.bounds else { return nil }
      let start = "begins at \(Text.time(ClockTime(positive: bounds.start)))"
      let end = bounds.end.map { "ends at \(Text.time(ClockTime(positive: $0)))" } ?? ""
      let changes = (bounds.start != requested.start ? [start] : []) + (bounds.end != requested.end ? [end] : [])
      return "\(Self.text(requested)): \(Text.list(changes)), because \(SeamObstacle.damage.text)"
    }
  }

  /// The ranges that are not cut exactly, with the reasons, for the user.
  var remarks: [String] {
    var counts: [(obstacle: SeamObstacle, first: Window.Bounds, count: Int)] = []
    for range in ranges {
      guard let obstacle = range.obstacle, let bounds = range.bounds else { continue }
      if let place = counts.firstIndex(where: { $0.obstacle == obstacle }) {
        counts[place].count += 1
      } else {
        counts.append((obstacle, bounds, 1))
      }
    }
    guard joined == nil else {
      return ranges.compactMap { range in
        range.obstacle.map {
          "\(input(of: range).name): pictures that its edit list hides may be shown, because \($0.text)"
        }
      }
    }
    return damage + earlyBeginnings
      + counts.map { obstacle, first, count in
        let others = count > 1 ? " and \(Text.count(count - 1, "other"))" : ""
        let mode = hasEditList ? "hidden" : "keyframe"
        return "\(Self.text(first))\(others): cut with --mode \(mode), because \(obstacle.text)"
      }
  }

  private var changing: Failure {
    Failure(
      "\(target.name): the format changes within the stream; \(container.name) then needs two passes, so neither input "
        + "nor output can be a pipe; MPEG-TS needs one")
  }

  private func untimed(_ reason: String) -> Failure {
    let isCut = isCut && joined == nil && !(surveys && container != .annexb)
    let user = isCut ? "a cut needs" : "\(container.name) needs"
    return Failure("\(input.name): pictures without a time, which \(user), \(reason)")
  }
}

extension VideoTrack {
  /// Reads the roles of its access units, as they are packaged.
  fileprivate var roleReader: any AccessUnitRoleReading {
    codec.roleReader(packaging.configuration ?? [], hasStartCodes: packaging.configuration == nil)
  }
}
