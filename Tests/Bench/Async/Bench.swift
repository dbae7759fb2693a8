// SPDX-License-Identifier: MPL-2.0
// Compares the asynchronous sequence with the polled session: both split a byte stream and decode it, alternately, and
// the medians of their processor and wall times are compared.
//
//   swift run -c release bench-async FILE [ROUNDS [PICTURES [polled|async]]]
//
// FILE is .h264 or .h265, and repeated up to so many pictures. With a last word, the file is decoded once, in that way
// alone: for a count of instructions, as by valgrind --tool=callgrind.
import Foundation
import H26x
import VideoDecoding

/// The pictures and the times in seconds of one run.
struct Run {
  var pictures = 0
  var wall = 0.0
  var processor = 0.0

  static func measured(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Int
  ) async rethrows -> Run {
    let (wall, processor) = (ContinuousClock.now, clock())
    let pictures = try await body()
    let elapsed = wall.duration(to: .now).components
    return Run(
      pictures: pictures, wall: Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18,
      processor: Double(clock() - processor) / Double(CLOCKS_PER_SEC))
  }
}

func polled<Codec: VideoCodecSyntax>(_ stream: [UInt8], _: Codec.Type, _ configuration: SessionConfiguration) throws
  -> Int
{
  var scanner = Codec.Scanner()
  var session: DecompressionSession?
  var (start, count, pictures) = (0, UInt64(0), 0)
  func fetch() {
    while let result = session?.nextResult() { if case .frame = result { pictures += 1 } }
  }
  while start < stream.count {
    switch scanner.next(in: stream.span.extracting(start...), isMarked: false, isDraining: true) {
    case .needsMoreData: return pictures
    case .garbage(let size), .unusable(let size): start += size
    case .accessUnit(let size):
      if session == nil {
        let format = try Codec.formatDescription(
          scanner.parameterSets, sequenceParameterSetID: nil, nalLengthSize: nil)
        session = try DecompressionSession(format: format, configuration: configuration)
      }
      let end = start + scanner.takeAccessUnit().end
      try session?.decode(stream.span.extracting(start..<end), tag: count)
      count += 1
      start += size
      fetch()
    }
  }
  session?.drain()
  fetch()
  return pictures
}

func sequence(_ stream: [UInt8], _ codec: FormatDescription.Codec, _ configuration: SessionConfiguration) async throws
  -> Int
{
  var pictures = 0
  for try await _ in DecodedPictures(of: AccessUnits(of: stream, codec: codec), configuration: configuration) {
    pictures += 1
  }
  return pictures
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

@main
enum Bench {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count > 1 else { fatalError("bench-async FILE [ROUNDS [PICTURES [polled|async]]]") }
    let numbers = arguments.dropFirst(2).compactMap(Int.init)
    let (rounds, wanted) = (numbers.first ?? 7, numbers.dropFirst().first ?? 1000)
    let once = [UInt8](try Data(contentsOf: URL(filePath: arguments[1])))
    let codec: FormatDescription.Codec = arguments[1].hasSuffix("5") ? .h265 : .h264
    // Codec threads would make the comparison inexact.
    var configuration = SessionConfiguration()
    configuration.threadCount = 1

    func decode(_ stream: [UInt8]) throws -> Int {
      switch codec {
      case .h264: try polled(stream, H264.self, configuration)
      case .h265: try polled(stream, H265.self, configuration)
      }
    }
    if arguments.count > 4 {
      let pictures = try await arguments[4] == "polled" ? decode(once) : sequence(once, codec, configuration)
      return print(arguments[4], pictures, "pictures")
    }
    let inOne = try decode(once)
    let stream = Array(repeatElement(once, count: max(1, (wanted + inOne - 1) / max(inOne, 1))).joined())
    var (polledRuns, sequenceRuns): ([Run], [Run]) = ([], [])
    for _ in 0..<rounds {
      polledRuns.append(try await Run.measured { try decode(stream) })
      sequenceRuns.append(try await Run.measured { try await sequence(stream, codec, configuration) })
    }
    for (label, runs) in [("polled", polledRuns), ("async ", sequenceRuns)] {
      print(
        label, runs[0].pictures, "pictures, wall", median(runs.map(\.wall)), "s, processor",
        median(runs.map(\.processor)), "s")
    }
    let pairs = zip(sequenceRuns, polledRuns)
    print("async/polled: wall", median(pairs.map { $0.wall / $1.wall }), terminator: ", ")
    print("processor", median(pairs.map { $0.processor / $1.processor }))
  }
}
