// SPDX-License-Identifier: MPL-2.0
import GStreamer
import HarnessSupport
import Testing

@testable import Elements
@testable import H26x

/// How many bytes the base class is asked for.
@Suite struct MinimumFrameSizeTests {
  init() { Harness.initialise() }

  private enum Event {
    case found(Int, batch: Bool)
    case push(Int)
    case needsMore(Int)
    case needsMorePushed(Int)
    case skipped
  }

  /// The minimum frame size that the base class gets after each event; nil for no change.
  private static func requests(_ events: [Event], isLengthPrefixed: Bool = false) -> [Int?] {
    var size = MinimumFrameSize()
    size.configure(isLengthPrefixed: isLengthPrefixed)
    return [size.takeChange()]
      + events.map { event in
        switch event {
        case .found(let count, let batch): size.found(count, isPulling: true, mayBatch: batch)
        case .push(let count): size.found(count, isPulling: false, mayBatch: false)
        case .needsMore(let count): size.needsMore(than: count, isPulling: true)
        case .needsMorePushed(let count): size.needsMore(than: count, isPulling: false)
        case .skipped: size.skipped()
        }
        return size.takeChange()
      }
  }

  @Test func requestsTheLikelySizeOfTheNextAccessUnit() {
    #expect(Self.requests([]) == [4])
    #expect(Self.requests([], isLengthPrefixed: true) == [1])
    #expect(Self.requests([.found(1000, batch: false), .found(1000, batch: false)]) == [4, 5221, nil])
    #expect(Self.requests([.push(1000), .push(9)]) == [4, nil, nil])
    #expect(Self.requests([.found(1000, batch: false), .skipped], isLengthPrefixed: true) == [1, 5221, 1])
  }

  @Test func batchesRequestFewDifferentSizes() {
    let sizes = [1000, 16_384, 16_385, 1000, 400_000].map { Event.found($0, batch: true) }
    #expect(Self.requests(sizes) == [4, 65_536, nil, 262_144, nil, 454_096])
  }

  @Test func requestsMoreUpToTheLimit() {
    #expect(
      Self.requests([.needsMore(100), .needsMore(32_769), .needsMore(40 << 20), .needsMore(64 << 20)])
        == [4, 65_536, 65_538, 67_108_865, nil])
    // Not with every small buffer.
    #expect(
      Self.requests([
        .needsMorePushed(1_048_575), .needsMorePushed(1_048_576), .needsMorePushed(62 << 20),
      ]) == [4, nil, 1_179_648, 67_108_865])
  }
}
