// SPDX-License-Identifier: MPL-2.0
import Testing

@testable import VideoDecoding

@Suite struct MissingDevicesTests {
  @Test func rememberedFailuresLastLongerEachTime() {
    var missing = MissingDevices<Int, String>()
    #expect(missing.reason(for: 1, now: .zero) == nil)
    var now = Duration.seconds(100)
    for pause in [10, 20, 40, 80, 160, 320, 600, 600] {
      missing.insert(1, "none", now: now)
      // Others have looked at the same time.
      missing.insert(1, "still none", now: now)
      #expect(missing.reason(for: 1, now: now + .seconds(pause - 1)) == "still none")
      #expect(missing.reason(for: 2, now: now) == nil)
      now += .seconds(pause)
      #expect(missing.reason(for: 1, now: now) == nil, "\(pause)")
    }
    missing.remove(1)
    missing.insert(1, "gone again", now: now)
    #expect(missing.reason(for: 1, now: now + .seconds(10)) == nil)
  }
}
