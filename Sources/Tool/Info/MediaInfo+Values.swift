// SPDX-License-Identifier: MPL-2.0
import Containers
import FoundationEssentials
import StreamReport

extension MediaInfo {
  /// The values that `h26x info --get` prints.
  ///
  /// - Parameter name: a member of the JSON, or a path of members with dots; those of the video need no path.
  /// - Throws: a `Failure` if there is no value.
  func values(_ name: String) throws(Failure) -> [String] {
    let values = try document().values(named: name)
    guard !values.isEmpty else { throw lack(of: name) }
    return values
  }

  /// The error for a value that the file lacks.
  func lack(of name: String) -> Failure { Failure("\(self.name): no value of \(name)") }

  /// The JSON that `h26x info --json` prints.
  func document() throws(Failure) -> JSONValue {
    var json = JSONText()
    write(to: &json)
    do { return try JSONDecoder().decode(JSONValue.self, from: Data(json.bytes)) } catch {
      throw Failure("\(name): values that JSON cannot hold")
    }
  }
}

/// A value of JSON.
enum JSONValue: Decodable {
  case object([String: JSONValue])
  case array([JSONValue])
  case text(String)
  case null

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let members = try? container.decode([String: JSONValue].self) {
      self = .object(members)
    } else if let elements = try? container.decode([JSONValue].self) {
      self = .array(elements)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let isTrue = try? container.decode(Bool.self) {
      self = .text("\(isTrue)")
    } else if let number = try? container.decode(Int64.self) {
      self = .text("\(number)")
    } else {
      self = .text("\(try container.decode(Double.self))")
    }
  }

  /// The texts and numbers of a name: a member, or a path of members with dots. Those of the video need no path.
  func values(named name: String) -> [String] {
    let path = name.split(separator: ".", omittingEmptySubsequences: false)[...]
    let values = values(path)
    guard values.isEmpty, case .object(let members) = self else { return values }
    return members["video"]?.values(path) ?? []
  }

  /// The texts and numbers at a path; arrays are gone through.
  private func values(_ path: ArraySlice<Substring>) -> [String] {
    switch self {
    case .array(let elements): elements.flatMap { $0.values(path) }
    case .object(let members): path.first.flatMap { members[String($0)] }?.values(path.dropFirst()) ?? []
    case .text(let text): path.isEmpty ? [text] : []
    case .null: []
    }
  }
}
