// SPDX-License-Identifier: MPL-2.0
import Foundation
import Testing

@testable import StreamReport

/// The JSON writer.
@Suite struct JSONTextTests {
  private func text(_ json: JSONText) -> String { String(decoding: json.bytes, as: UTF8.self) }

  /// Strings, and what they are in a document.
  @Test(arguments: [
    ("", ""), ("plain", "plain"), ("\"\\/", "\\\"\\\\/"), ("\0\t\n\r\u{1F}", "\\u0000\\u0009\\u000a\\u000d\\u001f"),
    ("\u{7F}\u{80}\u{9F}\u{A0}", "\\u007f\\u0080\\u009f\u{A0}"), ("</script>", "\\u003c/script>"),
    ("\u{2028}é😀\u{FFFD}", "\u{2028}é😀\u{FFFD}"), ("ÂÀ\u{BF}\u{C2}\u{80}", "ÂÀ\u{BF}\u{C2}\\u0080"),
  ]) func escapesStrings(_ string: String, _ expected: String) throws {
    var json = JSONText()
    json.open(0x5B)
    json.value(string: string)
    json.close(0x5D)
    #expect(text(json) == "[\"\(expected)\"]")
    let parsed = try JSONSerialization.jsonObject(with: Data(json.bytes)) as? [String]
    #expect(parsed == [string])
  }

  private func document(isIndented: Bool) -> JSONText {
    var json = JSONText(isIndented: isIndented)
    json.open(0x5B)
    json.open()
    json.close()
    json.open()
    json.member("a", Int64.min)
    json.member("b", true)
    json.member("c", "literal")
    json.member("d", string: "text")
    json.key(string: "e")
    json.value(literal: "null")
    json.member("f", nil as Int?)
    json.member("g", hex: [0, 0xAF])
    json.openArray("h")
    json.value(1)
    json.value("two")
    json.open(0x5B)
    json.closeArray()
    json.closeArray()
    json.openArray("i")
    json.closeArray()
    json.close()
    json.close(0x5D)
    json.endLine()
    return json
  }

  @Test func writesADocumentOnOneLine() {
    #expect(
      text(document(isIndented: false))
        == #"[{},{"a":-9223372036854775808,"b":true,"c":"literal","d":"text","e":null,"g":"00af","h":[1,"two",[]],"i":[]}]"#
        + "\n")
  }

  @Test func writesAnIndentedDocument() {
    #expect(
      text(document(isIndented: true)) == """
        [
          {},
          {
            "a": -9223372036854775808,
            "b": true,
            "c": "literal",
            "d": "text",
            "e": null,
            "g": "00af",
            "h": [
              1,
              "two",
              []
            ],
            "i": []
          }
        ]

        """)
  }
}
