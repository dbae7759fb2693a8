// SPDX-License-Identifier: MPL-2.0
import AVFormat

/// The times of a copy, by the times of its source's media, for one range of the source. All are in nanoseconds.
struct PresentationTimes {
  /// The end of the ranges that are written, in times of the target.
  struct End {
    /// When the presentation ends.
    var presentation: Int64 = 0
    /// When the last picture of the video's media ends, whether it is shown or not.
    var media: Int64 = 0
    /// When the last access unit is decoded.
    var decoding = Int64.min
  }

  /// How much later than the composition of a picture the media of other streams are that belong to it.
  let shift: Int64
  /// Whether nothing in the source hides its first pictures: its times have no origin, and count from the first one.
  private let countsFromFirst: Bool
  /// The time of the source's media at which the video's media in the target have time 0.
  private(set) var offset: Int64 = 0
  /// The time of the source's media that is at time 0 of the presentation.
  private var presentationOffset: Int64 = 0
  /// Behind another range with later decoding times; `nil` for decoding times as in the source.
  private var overlap: DecodingOverlap?

  init(shift: Int64 = 0, countsFromFirst: Bool = false) {
    (self.shift, self.countsFromFirst) = (shift, countsFromFirst)
  }

  /// The time of the media of other streams that belongs to a composition time.
  func otherStreamTime(of composition: Int64) -> Int64 { composition &+ shift }

  /// The time of the media of other streams that is at time 0 of the presentation.
  var otherStreamOffset: Int64 { otherStreamTime(of: presentationOffset) }

  /// Begins the presentation.
  ///
  /// - Parameters:
  ///   - first: the earliest presentation time of an access unit, of the media.
  ///   - hasEditList: whether the copy can hide pictures in front of the presentation. Otherwise it has no times
  ///     below 0.
  /// - Returns: how much later everything is shown than by the window.
  mutating func begin(_ window: Window, at first: Int64, hasEditList: Bool) -> Int64 {
    var start = window.parts.isEmpty ? window.shown.map { $0.start &- $0.time } ?? first : 0
    if countsFromFirst, !window.isCut { start = min(start, first) }
    offset = hasEditList ? start : min(start, first)
    presentationOffset = offset
    return start.subtractingReportingOverflow(offset).partialValue
  }

  /// Continues behind other ranges. The media follow the media of the range in front, with all hidden pictures. The
  /// presentation follows the presentation of that range, if the target can hide pictures. Where decoding times would
  /// not ascend, they are moved, and the presentation stays.
  ///
  /// - Parameters:
  ///   - earliest: the earliest presentation time of an access unit, of the media.
  ///   - decoding: the decoding time of the first access unit, of the media.
  mutating func begin(
    _ window: Window, behind end: End, earliest: Int64, decoding: Int64, hasEditList: Bool
  ) {
    let start = window.shown?.start ?? earliest
    offset = min(start, earliest) &- end.media
    presentationOffset = hasEditList ? start &- end.presentation : offset
    overlap = DecodingOverlap(from: decoding &- offset, behind: end.decoding, before: end.media)
  }

  /// Delays the beginning to avoid times below 0, both for an access unit that is decoded at this time of the media
  /// and for another stream's packet.
  mutating func beginAtZero(_ decoding: Int64, _ other: Int64?) {
    offset &+= min(decoding &- offset, other.map { $0 &- otherStreamOffset } ?? 0, 0)
    presentationOffset = offset
  }

  /// Gives an access unit times of the target.
  func place(_ accessUnit: inout MediaOutput.AccessUnit) {
    accessUnit.presentation &-= offset
    let decoding = accessUnit.decoding &- offset
    accessUnit.decoding = overlap?.moved(decoding) ?? decoding
  }
}

/// The decoding times of a range whose delay is longer than that of the range in front. They would begin before the
/// decoding times in front end.
///
/// Those up to the beginning of the presentation are moved closer together. They ascend, and none is later than a
/// presentation time of the range.
struct DecodingOverlap {
  /// When the presentation of the range begins.
  private let presentation: Int64
  /// How long before that its decoding begins, by its source and in the target.
  private let (lead, room): (Int64, Int64)

  /// All times are of the target, in nanoseconds.
  ///
  /// - Parameters:
  ///   - decoding: of the first access unit, as far from its presentation as in its source.
  ///   - last: the last decoding time in front of the range.
  ///   - presentation: when the presentation of the range begins.
  /// - Returns: `nil` if the decoding times ascend, or cannot.
  init?(from decoding: Int64, behind last: Int64, before presentation: Int64) {
    guard decoding <= last, case (let lead, false) = presentation.subtractingReportingOverflow(decoding),
      case (let room, false) = presentation.subtractingReportingOverflow(last), room > 0
    else { return nil }
    (self.presentation, self.lead) = (presentation, lead)
    // The first time is some ticks behind the last one.
    self.room = room - room / 8
  }

  /// The decoding time for one that is as far from its presentation as in the source.
  func moved(_ decoding: Int64) -> Int64 {
    guard case (let distance, false) = presentation.subtractingReportingOverflow(decoding), 0...lead ~= distance else {
      return decoding
    }
    // At most `room`.
    return presentation - lead.dividingFullWidth(distance.multipliedFullWidth(by: room)).quotient
  }
}

/// How far apart the latest pictures are shown. FLV, and transport streams of video without a frame rate, do not have
/// the durations of pictures. Without a duration, the last picture would not be shown.
struct PictureSpacing {
  /// Presentation times, ascending.
  private var times: [Int64] = []

  /// More pictures than can be decoded before a picture that is shown earlier.
  private static let limit = 17
  /// 1/25 second in nanoseconds, if nothing is known.
  private static let usualDuration: Int64 = 40_000_000

  /// Takes the presentation time of the next picture in decoding order.
  mutating func add(_ time: Int64) {
    let place = times.firstIndex { $0 >= time } ?? times.endIndex
    times.insert(time, at: place)
    if times.count > Self.limit { times.removeFirst() }
  }

  /// The duration of a picture of which none is known: the shortest distance of two others.
  var duration: Int64 {
    let distances = zip(times, times.dropFirst()).lazy.map { $1.subtractingReportingOverflow($0).partialValue }
    return distances.filter { $0 > 0 }.min() ?? Self.usualDuration
  }
}
