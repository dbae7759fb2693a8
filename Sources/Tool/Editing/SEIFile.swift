// SPDX-License-Identifier: MPL-2.0
import FoundationEssentials
import H26x
import SystemPackage

/// SEI messages as JSON lines, an object for each: `access-unit` in decoding order from 0, `type` (`payloadType`) and
/// `payload` in hexadecimal digits, without emulation prevention bytes. `name` and what else there is are for people.
struct SEIFile {
  let path: FilePath

  /// More is no file of SEI messages, in bytes.
  private static let limit = 1 << 28

  private struct Line: Decodable {
    let accessUnit: Int
    let type: UInt32
    let payload: String

    enum CodingKeys: String, CodingKey {
      case accessUnit = "access-unit"
      case type, payload
    }
  }

  /// Reads the messages.
  ///
  /// - Throws: a `Failure` that names the line which is no message.
  func insertions() throws(Failure) -> [SEIInsertion] {
    let decoder = JSONDecoder()
    var insertions: [SEIInsertion] = []
    for (index, line) in try bytes().split(separator: 0x0A, omittingEmptySubsequences: false).enumerated()
    where line.contains(where: { $0 > 0x20 }) {
      let found: Line
      do { found = try decoder.decode(Line.self, from: Data(line)) } catch { throw failure(index, Self.reason(error)) }
      guard found.accessUnit >= 0 else { throw failure(index, "access-unit \(found.accessUnit) is below 0") }
      guard let payload = EditText.hexadecimal(Array(found.payload.utf8)[...]) else {
        throw failure(index, "payload is no even number of hexadecimal digits")
      }
      insertions.append(
        SEIInsertion(
          SEIPayloadType(rawValue: found.type), payload: payload, at: .accessUnits([found.accessUnit])))
    }
    guard !insertions.isEmpty else { throw Failure("\(path): no SEI message in it") }
    return insertions
  }

  private func failure(_ index: Int, _ reason: String) -> Failure {
    Failure(
      "\(path): line \(index + 1): \(reason); expected {\"access-unit\": NUMBER, \"type\": NUMBER, \"payload\": \"HEX\"}"
    )
  }

  private static func reason(_ error: any Error) -> String {
    switch error as? DecodingError {
    case .keyNotFound(let key, _): "no \(key.stringValue)"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      context.codingPath.last.map { "\($0.stringValue) is of another type" } ?? "no JSON object"
    default: "no JSON, or cut off"
    }
  }

  private func bytes() throws(Failure) -> [UInt8] {
    let file = try OpenFile(path, .readOnly)
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= Self.limit {
      let count: Int
      do { count = try unsafe chunk.withUnsafeMutableBytes { try unsafe file.descriptor.read(into: $0) } } catch {
        throw Failure("\(path): cannot be read: \(error)")
      }
      guard count > 0 else { return bytes }
      bytes += chunk[..<count]
    }
    throw Failure("\(path): more than \(Self.limit >> 20) MiB")
  }
}
