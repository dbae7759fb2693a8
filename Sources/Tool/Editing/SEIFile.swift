// SPDX-License-Identifier: MPL-2.0
import Containers
import FoundationEssentials
import H26x
import SystemPackage

/// SEI messages as JSON lines, an object each. `access-unit` counts in decoding order from 0, `type` is
/// `payloadType`, and `payload` has hexadecimal digits, without emulation prevention bytes. `clock-timestamps` are
/// the time codes in H.264's picture timing. Only these are inserted of such a message. `name` and all other members
/// are for people.
struct SEIFile {
  let path: FilePath

  /// More is no file of SEI messages, in bytes.
  private static let limit = 1 << 28

  private struct Line: Decodable {
    let accessUnit: Int
    let type: UInt32
    let payload: String
    let clockTimestamps: [Timestamp?]?

    enum CodingKeys: String, CodingKey {
      case accessUnit = "access-unit"
      case clockTimestamps = "clock-timestamps"
      case type, payload
    }
  }

  /// `clock_timestamp()`. An absent member is 0, or not sent.
  private struct Timestamp: Decodable {
    let scanType, countingType, seconds, minutes, hours: UInt8?
    let frames: UInt16?
    let offset: Int32?
    let isFieldBased, isFull, isDiscontinuous, hasDroppedCount: Bool?

    enum CodingKeys: String, CodingKey {
      case scanType = "scan-type"
      case countingType = "counting-type"
      case isFieldBased = "field-based"
      case isFull = "full"
      case isDiscontinuous = "discontinuity"
      case hasDroppedCount = "dropped"
      case seconds, minutes, hours, frames, offset
    }

    var value: ClockTimestamp {
      var value = ClockTimestamp()
      (value.scanType, value.countingType) = (scanType ?? 0, countingType ?? 0)
      (value.isFieldBased, value.isFull) = (isFieldBased ?? false, isFull ?? false)
      (value.isDiscontinuous, value.hasDroppedCount) = (isDiscontinuous ?? false, hasDroppedCount ?? false)
      (value.seconds, value.minutes, value.hours) = (seconds, minutes, hours)
      (value.frames, value.timeOffset) = (frames ?? 0, offset ?? 0)
      return value
    }
  }

  /// Reads the messages.
  ///
  /// - Throws: a `Failure` that names the line that is no message.
  func edits() throws(Failure) -> [StreamEdit] {
    let decoder = JSONDecoder()
    var edits: [StreamEdit] = []
    for (index, line) in try OpenFile.contents(of: path, limit: Self.limit).split(
      separator: 0x0A, omittingEmptySubsequences: false
    ).enumerated()
    where line.contains(where: { $0 > 0x20 }) {
      let found: Line
      do { found = try decoder.decode(Line.self, from: Data(line)) } catch { throw failure(index, Self.reason(error)) }
      guard found.accessUnit >= 0 else { throw failure(index, "access-unit \(found.accessUnit) is below 0") }
      guard let payload = EditText.hexadecimal(Array(found.payload.utf8)[...]) else {
        throw failure(index, "payload is not an even number of hexadecimal digits")
      }
      let type = SEIPayloadType(rawValue: found.type)
      if type == .pictureTiming, let timestamps = found.clockTimestamps {
        edits.append(.clockTimestamps(timestamps.map { $0?.value }, accessUnit: found.accessUnit))
      } else {
        edits.append(.insertSEI(SEIInsertion(type, payload: payload, at: .accessUnits([found.accessUnit]))))
      }
    }
    guard !edits.isEmpty else { throw Failure("\(path): contains no SEI message") }
    return edits
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
      context.codingPath.last.map { "\($0.stringValue) is of another type" } ?? "not a JSON object"
    default: "not JSON, or cut off"
    }
  }
}
