// SPDX-License-Identifier: MPL-2.0
import H26x

/// The report page that is embedded in the program, in two parts: the document goes between them.
struct ReportPage {
  let head: [UInt8]
  let tail: [UInt8]

  init(name: String) {
    let html = String(decoding: PackageResources.page_html, as: UTF8.self)
    let scripts = [
      PackageResources.model_js, PackageResources.charts_js, PackageResources.draw_js, PackageResources.list_js,
      PackageResources.syntax_js, PackageResources.page_js,
    ].map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    let filled = Self.replace("/*style*/", with: String(decoding: PackageResources.page_css, as: UTF8.self), in: html)
    let whole = Self.replace("/*script*/", with: scripts, in: filled)
    // Only the inspector has a start section.
    let bare = Self.replace("<!--start-->", with: "", in: whole)
    let signed = Self.replace("<!--version-->", with: "Made by h26x \(ReleaseVersion.text)", in: bare)
    let named = Self.replace("id=\"data\"", with: "id=\"data\" data-name=\"\(Self.escaped(name))\"", in: signed)
    let (before, after) = Self.split(named, at: "<!--data-->")
    (head, tail) = (Array(before.utf8), Array(after.utf8))
  }

  private static func replace(_ mark: String, with text: String, in page: String) -> String {
    let (before, after) = split(page, at: mark)
    return before + text + after
  }

  /// The page before and after the first mark; all of it and nothing if there is no mark.
  private static func split(_ page: String, at mark: String) -> (String, String) {
    let (bytes, wanted) = (Array(page.utf8), Array(mark.utf8))
    guard bytes.count >= wanted.count else { return (page, "") }
    for start in 0...bytes.count - wanted.count where bytes[start] == wanted[0] {
      guard bytes[start..<start + wanted.count].elementsEqual(wanted) else { continue }
      return (
        String(decoding: bytes[..<start], as: UTF8.self),
        String(decoding: bytes[(start + wanted.count)...], as: UTF8.self)
      )
    }
    return (page, "")
  }

  /// A name as the value of an HTML attribute.
  private static func escaped(_ name: String) -> String {
    var text = ""
    for character in name.unicodeScalars {
      switch character {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "\"": text += "&quot;"
      default: text.unicodeScalars.append(character)
      }
    }
    return text
  }
}
