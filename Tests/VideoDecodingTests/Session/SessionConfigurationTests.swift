// SPDX-License-Identifier: MPL-2.0
import Testing

@testable import VideoDecoding

/// What a session does by default.
@Suite struct SessionConfigurationTests {
  @Test func defaultsAreTheDocumentedOnes() {
    let configuration = SessionConfiguration()
    #expect(configuration.threadCount == 0 && configuration.threadType == .automatic)
    #expect(configuration.outputCorrupt && configuration.skipFrames == .none && !configuration.lowDelay)
    #expect(configuration.unknownReordering == .expect)
    #expect(configuration.retries == 5 && configuration.startPatience == .seconds(10))
    #expect(configuration.replayByteLimit == 16_777_216 && configuration.replayCountLimit == 600)
    #expect(configuration.outputLayout == .native && !configuration.verifiesPictureHash)
    #expect(configuration.maximumPixels == 67_108_864)
  }

  @Test(arguments: [
    (SessionConfiguration.UnknownReordering.expect, false, true), (.expect, true, false), (.adapt, false, false),
    (.adapt, true, false),
  ])
  func lowDelayExpectsNoReordering(
    _ reordering: SessionConfiguration.UnknownReordering, _ lowDelay: Bool, _ expects: Bool
  ) {
    let configuration = SessionConfiguration.with {
      $0.unknownReordering = reordering
      $0.lowDelay = lowDelay
    }
    #expect(configuration.expectsReordering == expects)
  }
}
