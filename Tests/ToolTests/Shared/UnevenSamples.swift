// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

/// An MP4 file whose samples are presented evenly and decoded in groups: the last one lasts almost as long as all of them,
/// the others last a tick.
enum UnevenSamples {
  /// - Parameters:
  ///   - file: ends with its movie box, and has one track.
  ///   - groupSize: the number of samples of a group.
  static func made(of file: Data, groupSize: Int = 2) throws -> Data {
    let bytes = [UInt8](file)
    let movie = try #require(file.range(of: Data("moov".utf8), options: .backwards)).lowerBound - file.startIndex - 4
    let box = try #require(MP4Tables(Array(bytes[movie...])))
    let step = try #require(box.durations.first)
    var (durations, offsets): ([Int], [Int]) = ([], [])
    for (index, offset) in box.offsets.enumerated() {
      let place = index % groupSize
      durations.append(place < groupSize - 1 ? 1 : groupSize * (step - 1) + 1)
      offsets.append(offset + place * (step - 1))
    }
    return Data(bytes[..<movie]) + Data(box.replacing(durations, offsets))
  }
}

/// `stts` and `ctts` of the one track in a movie box.
private struct MP4Tables {
  private let movie: [UInt8]
  /// Of each sample, in ticks.
  let (durations, offsets): ([Int], [Int])

  private static let path = ["moov", "trak", "mdia", "minf", "stbl"]

  init?(_ movie: [UInt8]) {
    self.movie = movie
    guard let times = Self.runs(movie, "stts"), let compositions = Self.runs(movie, "ctts") else { return nil }
    (durations, offsets) = (times, compositions)
  }

  private static func number(_ bytes: [UInt8], _ place: Int) -> Int {
    bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  private static func four(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }

  /// The position of a box's header.
  private static func place(_ bytes: [UInt8], _ type: String, from start: Int = 0) -> Int? {
    Data(bytes[start...]).range(of: Data(type.utf8)).map { start + $0.lowerBound - 4 }
  }

  private static func runs(_ bytes: [UInt8], _ type: String) -> [Int]? {
    guard let box = place(bytes, type) else { return nil }
    return (0..<number(bytes, box + 12)).flatMap { index in
      let entry = box + 16 + 8 * index
      return [Int](repeating: number(bytes, entry + 4), count: number(bytes, entry))
    }
  }

  func replacing(_ durations: [Int], _ offsets: [Int]) -> [UInt8] {
    var bytes = movie
    for (type, values) in [("stts", durations), ("ctts", offsets)] {
      guard let box = Self.place(bytes, type) else { continue }
      let content = Self.four(0) + Self.four(values.count) + values.flatMap { Self.four(1) + Self.four($0) }
      let old = Self.number(bytes, box)
      bytes.replaceSubrange(box..<box + old, with: Self.four(content.count + 8) + Array(type.utf8) + content)
      for parent in Self.path {
        guard let place = Self.place(bytes, parent) else { continue }
        bytes.replaceSubrange(place..<place + 4, with: Self.four(Self.number(bytes, place) + content.count + 8 - old))
      }
    }
    return bytes
  }
}
