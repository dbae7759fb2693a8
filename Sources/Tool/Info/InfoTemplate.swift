// SPDX-License-Identifier: MPL-2.0
import Containers

/// The text of `h26x info --template`: values of the JSON, by name in braces.
struct InfoTemplate {
  private enum Part {
    case text(String)
    /// A name, and the text for files without the value; `nil` if these are a failure.
    case value(name: String, missing: String?)
  }

  private var parts: [Part] = []

  /// Reads a template.
  ///
  /// - Throws: the text of the reason, for the user.
  init(_ template: String) throws(Failure) {
    var rest = template[...]
    var text = ""
    while let character = rest.popFirst() {
      switch character {
      case "{" where rest.first == "{", "}" where rest.first == "}":
        rest.removeFirst()
        text.append(character)
      case "{":
        guard let end = rest.firstIndex(of: "}") else { throw Failure("expected } behind {\(rest)") }
        let name = rest[..<end].split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = name.first, !first.isEmpty else { throw Failure("expected a name between { and }") }
        parts += [.text(text), .value(name: String(first), missing: name.count > 1 ? String(name[1]) : nil)]
        text = ""
        rest = rest[end...].dropFirst()
      case "}": throw Failure("expected }} for a brace")
      default: text.append(character)
      }
    }
    parts.append(.text(text))
  }

  /// The text with the values of a file.
  ///
  /// - Throws: a `Failure` if a value is missing and the template has no text for that.
  func text(_ info: MediaInfo) throws(Failure) -> String {
    let document = try info.document()
    var text = ""
    for part in parts {
      switch part {
      case .text(let literal): text += literal
      case .value(let name, let missing):
        let values = document.values(named: name)
        guard !values.isEmpty || missing != nil else { throw info.lack(of: name) }
        text += values.isEmpty ? missing ?? "" : values.joined(separator: ", ")
      }
    }
    return text
  }
}
