// SPDX-License-Identifier: MPL-2.0
import Containers
import H26x
import StreamReport

extension StreamMeasure {
  /// The lowest level that the stream keeps to, after other edits.
  ///
  /// - Throws: a `Failure` if no level is enough, or without a frame rate, on which the level depends.
  func lowestLevel<Codec: StreamEditing>(
    _ syntax: Codec.Type, after edits: [StreamEdit], _ input: InputFile
  ) throws(Failure) -> StreamLevel {
    guard rate(syntax, after: edits) != nil else {
      throw Failure("\(input.name): no frame rate, which the level depends on: set it with --frame-rate, such as 25")
    }
    if let level = Codec.lowestLevel(of: parameterSets, after: edits, demand(syntax, after: edits)) { return level }
    // Perhaps it is another edit that no level helps.
    do throws(StreamEditError) {
      for set in parameterSets { _ = try Codec.edited(parameterSet: set.span, edits, sets: Codec.ParameterSets()) }
    } catch { throw Failure("\(input.name): \(error.words)") }
    throw Failure("\(input.name): the stream exceeds the limits of every level")
  }

  /// Refuses a level that has no room for the stream.
  ///
  /// - Parameter edits: all edits, including the level.
  func check<Codec: StreamEditing>(
    _ syntax: Codec.Type, _ level: StreamLevel, in edits: [StreamEdit], _ input: InputFile
  ) throws(Failure) {
    let others = edits.filter { !$0.affects(.level) }
    let demand = demand(syntax, after: edits)
    var reason: String
    do throws(StreamEditError) {
      guard let excess = try Codec.excess(of: parameterSets, after: edits, demand) else { return }
      reason = words(for: excess)
    } catch {
      // An error in another edit, or the lack of any level, is not the fault of this edit.
      guard error.reason == .exceedsLevel else { throw Failure("\(input.name): \(error.words)") }
      reason = error.wordsAboutLevel
    }
    if let lowest = Codec.lowestLevel(of: parameterSets, after: others, demand) {
      reason += "; the lowest level with room is \(lowest.name)"
    }
    throw Failure("\(input.name): --level \(level.name): \(reason)")
  }

  /// Refuses the Main tier if it has no room for a stream of the High tier at its level.
  ///
  /// - Parameter edits: all edits, without an edit of the level.
  func checkMainTier(in edits: [StreamEdit], _ input: InputFile) throws(Failure) {
    let others = edits.filter { $0 != .highTier(false) }
    guard let reason = excess(codec.syntax, of: edits, without: others) else { return }
    throw Failure("\(input.name): --tier main: \(reason); --level auto finds a level of that tier with room")
  }

  /// The demand of edits beyond the level that the stream announces, if it kept to the level without them; nil for
  /// none.
  func excess<Codec: StreamEditing>(
    _ syntax: Codec.Type, of edits: [StreamEdit], without others: [StreamEdit]
  ) -> String? {
    do throws(StreamEditError) {
      let excess = try Codec.excess(of: parameterSets, after: edits, demand(syntax, after: edits))
      let before = try Codec.excess(of: parameterSets, after: others, demand(syntax, after: others))
      return before == nil ? excess.map { words(for: $0) } : nil
    } catch {
      // It comes with the edit.
      return nil
    }
  }

  // MARK: Demand

  private func demand<Codec: StreamEditing>(_ syntax: Codec.Type, after edits: [StreamEdit]) -> LevelDemand {
    var demand = LevelDemand(frameRate: containerRate)
    demand.sliceSegments = sliceSegments
    let announced = rate(syntax, after: edits).map { Double($0.denominator) / Double($0.numerator) }
    let isEdited = edits.contains { $0.affects(.rate) }
    let fields = isFieldSequence ? 2.0 : 1
    demand.accessUnits = pictures.map { picture in
      let period = announced.map { picture.isField ? $0 / 2 : $0 / fields }
      // A container's times stay, and the stream has others.
      let seconds = isEdited ? [picture.interval, period].compactMap(\.self).min() : picture.interval ?? period
      return LevelDemand.AccessUnit(bits: picture.bits, codedBits: picture.codedBits, seconds: seconds)
    }
    return demand
  }

  /// Frames a second after the edits: by the headers, else by the container; nil if neither has it.
  private func rate<Codec: StreamEditing>(_ syntax: Codec.Type, after edits: [StreamEdit]) -> Ratio? {
    for case .frameRate(let rate) in edits.reversed() { return rate ?? containerRate }
    return announcedRate(syntax) ?? containerRate
  }

  private func announcedRate<Codec: StreamEditing>(_ syntax: Codec.Type) -> Ratio? {
    var sets = Codec.ParameterSets()
    for set in parameterSets { _ = try? sets.insert(set.span) }
    let description = try? Codec.formatDescription(sets, sequenceParameterSetID: nil, nalLengthSize: nil)
    return description?.frameRate
  }

  /// Whether the headers announce a frame rate.
  var announcesRate: Bool { announcedRate(codec.syntax) != nil }

  /// Whether each picture of H.265 is a field.
  private var isFieldSequence: Bool {
    codec == .h265
      && parameterSets.contains { (try? H265.SequenceParameterSet(nalUnit: $0.span))?.isFieldSequence ?? false }
  }

  // MARK: For the user

  private func words(for excess: LevelExcess) -> String {
    let isH264 = codec == .h264
    switch excess {
    case .unknown: return "no SPS whose level is known"
    case .size(let value, let limit):
      return isH264
        ? "pictures of \(value) macroblocks, but MaxFS is \(limit) (H.264 A.3.1)"
        : "pictures of \(value) luma samples, but MaxLumaPs is \(limit) (H.265 A.4.1)"
    case .buffer(let frames):
      return "\(Text.count(frames, "frame")) in the decoded picture buffer, but it has room for fewer "
        + "(\(isH264 ? "MaxDpbMbs, H.264 A.3.1" : "MaxDpbSize, H.265 A.4.2"))"
    case .rate(let value, let limit):
      return isH264
        ? "\(value) macroblocks a second, but MaxMBPS is \(limit) (H.264 A.3.1)"
        : "\(value) luma samples a second, but MaxLumaSr is \(limit) (H.265 A.4.2)"
    case .bitRate(let value, let limit):
      return "\(value) bits a second, but MaxBR is \(limit) (\(isH264 ? "H.264 A.3.1" : "H.265 A.4.2"))"
    case .late(let place, let bitRate, let size):
      let index = pictures.indices.contains(place) ? pictures[place].index : UInt64(place)
      return "access unit \(index) comes too late at MaxBR \(bitRate) bit/s with MaxCPB \(size) bits "
        + "(\(isH264 ? "H.264 A.3.1" : "H.265 A.4.2"))"
    case .sliceSegments(let value, let limit):
      return "\(value) slice segments in a picture, but MaxSliceSegmentsPerPicture is \(limit) (H.265 table A.8)"
    case .tileColumns(let value, let limit):
      return "\(value) columns of tiles, but MaxTileCols is \(limit) (H.265 table A.8)"
    case .tileRows(let value, let limit):
      return "\(value) rows of tiles, but MaxTileRows is \(limit) (H.265 table A.8)"
    }
  }
}

extension StreamLevel {
  /// Its number: "4.1", "1b".
  var name: String { is1b ? "1b" : tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)" }
}
