// SPDX-License-Identifier: MPL-2.0
import Foundation
import TestSupport
import Testing

/// Conformance vectors with published checksums.
@Suite(
  .enabled(if: PluginUnderTest.isBuilt, Comment(rawValue: PluginUnderTest.missing)),
  .enabled(if: !Vector.all.isEmpty, Comment(rawValue: Vector.missing)))
struct ConformanceTests {
  /// The chains of elements: directly with threads, and through another packaging without threads.
  static let routes = ["decoded", "repacked"]

  /// The elements between source and sink.
  private static func chain(_ route: String, codec: String) -> String {
    let form = codec == "h264" ? "avc" : "hvc1"
    return switch route {
    case "repacked":
      "swift\(codec)parse ! swift\(codec)repack ! video/x-\(codec),stream-format=\(form) ! swift\(codec)dec max-threads=1"
    default: "swift\(codec)parse ! swift\(codec)dec"
    }
  }

  /// Streams whose reference checksum no pipeline here can have, and why. They must be decoded to the end all the same.
  static let otherwise = [
    "androidx_sample_partially_fragmented.mp4": "qtdemux hands out 28 of its 30 samples",
    "androidx_dolbyVision-hdr.MOV": "qtdemux hands out 3 of its 5 samples",
    "membrane_h265_ref_video_variable_parameters.mp4": "qtdemux follows the edit list, the reference does not",
  ]

  /// Streams with damaged pictures that the reference does not have; here they are output, flagged, by default.
  static let damaged: Set = ["androidx_sample_with_invalid_nalu.mp4"]

  struct Outcome: Sendable {
    let vector: Vector
    let passed: [Bool]
    let failures: [String]
  }

  @Test func decodesEveryVectorBitExactly() async throws {
    let outcomes = try await withThrowingTaskGroup(of: Outcome.self) { group in
      for vector in TestScope.rows(Vector.all, usually: 12) { group.addTask { try await Self.run(vector) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    print(Self.table(outcomes))
    for failure in outcomes.flatMap(\.failures).sorted() { Issue.record(Comment(rawValue: failure)) }
  }

  private static func run(_ vector: Vector) async throws -> Outcome {
    var passed: [Bool] = []
    var failures: [String] = []
    for route in routes {
      let options = damaged.contains(vector.name) ? " output-corrupt=false" : ""
      let (sum, run) = try await checksum(of: vector, through: chain(route, codec: vector.codec) + options)
      let isFree = vector.checksum == nil || (otherwise[vector.name] != nil && sum != nil)
      let right = run.endedByItself && (isFree || sum == vector.checksum)
      passed.append(right)
      guard !right else { continue }
      failures.append(
        "\(vector.category) \(vector.name) \(route): expected \(vector.checksum ?? "an end"), "
          + "got \(sum ?? "none") \(run.busError ?? "")\(run.timedOut ? " (hung)" : "") status \(run.status)")
    }
    return Outcome(vector: vector, passed: passed, failures: failures)
  }

  private static func checksum(of vector: Vector, through chain: String) async throws -> (String?, Command) {
    let head = "\(source(vector.path, container: vector.container)) ! \(chain) ! videocodectestsink"
    guard vector.checksum?.count == 40 else {
      let run = try await Command.launch(head)
      return (run.pictureChecksum, run)
    }
    let scratch = try Scratch()
    let run = try await Command.launch("\(head) location=\(scratch.path("pictures"))")
    let sum = try await Command.run(["sha1sum", scratch.path("pictures")])
    return (sum.output.split(separator: " ").first.map(String.init), run)
  }

  /// A table with a row for each category: its vectors, and how many were right with each chain.
  private static func table(_ outcomes: [Outcome]) -> String {
    func row(_ first: String, _ cells: [String]) -> String {
      first.padding(toLength: 28, withPad: " ", startingAt: 0)
        + cells.map { String(repeating: " ", count: max(0, 10 - $0.count)) + $0 }.joined()
    }
    func counts(_ outcomes: [Outcome]) -> [String] {
      ["\(outcomes.count)"] + routes.indices.map { route in "\(outcomes.count { $0.passed[route] })" }
    }
    let categories = Dictionary(grouping: outcomes, by: \.vector.category).sorted { $0.key < $1.key }
    let lines =
      [row("category", ["vectors"] + routes)] + categories.map { row($0.key, counts($0.value)) }
      + [row("all", counts(outcomes))]
    return lines.joined(separator: "\n")
  }
}
