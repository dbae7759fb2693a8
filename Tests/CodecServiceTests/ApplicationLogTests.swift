// SPDX-License-Identifier: MPL-2.0
import Testing

/// What libavcodec logs without a codec context, and what the application does with libavutil's log.
@Suite struct ApplicationLogTests {
  /// The lines on standard output and standard error.
  private func lines(_ arguments: String...) throws -> [String] {
    try Host.lines(["log"] + arguments, before: ["sh", "-c", "exec \"$0\" \"$@\" 2>&1"])
  }

  @Test(
    "a decoder writes nothing to standard error; what the application logs is written", arguments: ["none", "process"])
  func decodersWriteNothingToStandardError(isolation: String) throws {
    #expect(try lines(isolation) == ["processes lost: 0", "words of the application", "level: 32"])
  }

  @Test("the callback and the level that the application has set stay", arguments: ["none", "process"])
  func keepsTheLogCallbackAndLevelOfTheApplication(isolation: String) throws {
    let lines = try lines(isolation, "callback")
    // Those of libavcodec come to it in the application's own process.
    #expect(
      lines.filter { !$0.contains("packetizing") } == [
        "processes lost: 0", "callback: words of the application", "level: 24",
      ])
  }
}
