// SPDX-License-Identifier: MPL-2.0
import CodecLink
import Testing

@testable import VideoDecoding

@Suite struct MissingDevicesTests {
  @Test func rememberedFailuresLastLongerEachTime() {
    let missing = MissingDevices()
    let (device, other) = (DeviceRequest(place: ":1"), DeviceRequest(place: ":2"))
    #expect(missing.reason(for: device, now: .zero) == nil)
    var now = Duration.seconds(100)
    for pause in [10, 20, 40, 80, 160, 320, 600, 600] {
      missing.insert(device, "none", now: now)
      // Others have looked at the same time.
      missing.insert(device, "still none", now: now)
      #expect(missing.reason(for: device, now: now + .seconds(pause - 1)) == "still none")
      #expect(missing.reason(for: other, now: now) == nil)
      now += .seconds(pause)
      #expect(missing.reason(for: device, now: now) == nil, "\(pause)")
    }
    missing.remove(device)
    missing.insert(device, "gone again", now: now)
    #expect(missing.reason(for: device, now: now + .seconds(10)) == nil)
  }
}
