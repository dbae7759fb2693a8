import BrightenElements
import GStreamer
import HarnessSupport
import Testing

@Suite(.serialized) struct BrightenTests {
  init() throws {
    Harness.initialise()
    try Brighten.register(as: "brighten", typeName: "SwiftBrighten")
  }

  @Test(arguments: [(10, [10, 110, 255, 255]), (-10, [0, 90, 240, 245])] as [(Int, [UInt8])])
  func theAmountIsAddedToEverySample(amount: Int, expected: [UInt8]) throws {
    let harness = try Harness("brighten amount=\(amount)")
    harness.setInputCaps("video/x-raw, format=GRAY8, width=4, height=1, framerate=25/1")
    #expect(harness.push([0, 100, 250, 255]) == 0)
    #expect(try harness.pullBytes() == expected)
  }
}
