// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink
import Testing

@testable import VideoDecoding

@Suite struct HardwareUseTests: StageBuilders {
  /// The replay from an access unit, with these parameter sets active.
  private func replay(from index: UInt64, format: [UInt8] = [1]) -> ReplayWindow {
    var replay = ReplayWindow(byteLimit: 1000, countLimit: 100)
    replay.append(
      index, byteCount: 10, start: .init(parameterSets: [], parameterSetsInForce: format, reorderDepth: 0))
    return replay
  }

  /// Seconds: when the device fails, until when it is left alone, and when it is tried again.
  @Test func failuresInARowDoubleThePause() {
    var use = HardwareUse(.preferred)
    let replay = replay(from: 10)
    for (failure, tooEarly, due) in [(0, nil, 0), (1, 10, 11), (12, 31, 32), (33, 72, 73), (134, nil, 134)]
      as [(Int, Int?, Int)]
    {
      use.fallBack(for: CodecFailure(.hardwareFailed), at: 5, format: [], now: .seconds(failure))
      #expect(!use.isOnDevice)
      if let tooEarly {
        let isTried = use.changesPlace(
          at: 11, oldest: 11, replaying: replay, isDamaged: false, now: .seconds(tooEarly))
        #expect(!isTried, "\(failure)")
      }
      let isTried = use.changesPlace(at: 11, oldest: 11, replaying: replay, isDamaged: false, now: .seconds(due))
      #expect(isTried && use.isOnDevice, "\(failure)")
    }
  }

  @Test func triesTheDeviceAtMostSixTimesAMinute() {
    var use = HardwareUse(.preferred)
    let (damaged, intact) = (replay(from: 0), replay(from: 10))
    var tries = 0
    for second in 0..<120 {
      if use.isOnDevice { _ = use.changesPlace(at: 9, oldest: 9, replaying: damaged, isDamaged: true) }
      let isTried = use.changesPlace(at: 11, oldest: 11, replaying: intact, isDamaged: false, now: .seconds(second))
      tries += isTried ? 1 : 0
    }
    #expect(tries == 12)
  }

  @Test func doesNotTryARefusedFormatAgain() {
    var use = HardwareUse(.preferred)
    use.fallBack(for: CodecFailure(.hardwareRefused), at: 5, format: [1])
    let (same, other) = (replay(from: 10, format: [1]), replay(from: 10, format: [2]))
    let isSameTried = use.changesPlace(at: 11, oldest: 11, replaying: same, isDamaged: false)
    #expect(!isSameTried)
    let isOtherTried = use.changesPlace(at: 11, oldest: 11, replaying: other, isDamaged: false)
    #expect(isOtherTried)
  }

  /// Seconds: when the device is missing, until when it is not looked for, and when it is.
  @Test func looksForAMissingDeviceLessAndLess() {
    var use = HardwareUse(.preferred)
    let (missing, device) = (MissingDevices(), DeviceRequest(place: ":1"))
    let replay = replay(from: 10)
    for (failure, tooEarly, due) in [(0, 9, 10), (10, 29, 30), (30, 69, 70)] {
      missing.insert(device, "none", now: .seconds(failure))
      use.fallBack(for: CodecFailure(.hardwareUnavailable), at: 5, format: [], now: .seconds(failure))
      for (second, isThere, isExpected) in [(tooEarly, true, false), (due, false, false), (due, true, true)] {
        let isTried = use.changesPlace(
          at: 11, oldest: 11, replaying: replay, isDamaged: false,
          mayBeThere: isThere && missing.reason(for: device, now: .seconds(second)) == nil, now: .seconds(second))
        #expect(isTried == isExpected && use.isOnDevice == isExpected, "\(failure), \(second)")
      }
    }
  }

  /// Seconds: when no process can be started for the device, until when none is tried, and when one is.
  @Test func triesToStartAProcessLessAndLess() {
    var use = HardwareUse(.preferred)
    let replay = replay(from: 10)
    for (failure, tooEarly, due) in [(0, 9, 10), (10, 29, 30), (30, 69, 70), (2000, 2009, 2010)] {
      use.fallBack(for: CodecFailure(.serviceUnavailable), at: 5, format: [], now: .seconds(failure))
      for (second, isExpected) in [(tooEarly, false), (due, true)] {
        let isTried = use.changesPlace(at: 11, oldest: 11, replaying: replay, isDamaged: false, now: .seconds(second))
        #expect(isTried == isExpected && use.isOnDevice == isExpected, "\(failure), \(second)")
      }
    }
  }

  /// The device decodes neither damaged access units nor those that refer to them.
  @Test func returnsToTheDeviceAfterTheLastDamage() {
    var use = HardwareUse(.preferred)
    let isLeft = use.changesPlace(at: 5, oldest: 5, replaying: replay(from: 0), isDamaged: true)
    #expect(isLeft)
    guard case .damage = use.takeReport() else {
      Issue.record("not reported")
      return
    }
    // The index, whether that access unit is damaged, where the replay begins, and whether the device is tried.
    for (index, isDamaged, start, isExpected) in [(12, true, 10, false), (14, false, 10, false), (15, false, 13, true)]
      as [(UInt64, Bool, UInt64, Bool)]
    {
      let isTried = use.changesPlace(
        at: index, oldest: index, replaying: replay(from: start), isDamaged: isDamaged)
      #expect(isTried == isExpected, "\(index)")
    }
  }

  /// A picture that has not been output and that the replay lacks would be lost.
  @Test func staysIfAPictureWouldBeLost() {
    var use = HardwareUse(.preferred)
    var trimmed = ReplayWindow(byteLimit: 1000, countLimit: 2)
    for index in 0..<3 as Range<UInt64> {
      trimmed.append(
        index, byteCount: 10,
        start: index == 1
          ? .init(parameterSets: [], parameterSetsInForce: [1], reorderDepth: 0, losesLeading: true) : nil)
    }
    #expect(trimmed.firstIndex == 1 && trimmed.isWhole)
    trimmed.append(3, byteCount: 10, start: .init(parameterSets: [], reorderDepth: 0, losesLeading: true))
    #expect(trimmed.firstIndex == 3 && !trimmed.isWhole)
    let changesWhileIncomplete = use.changesPlace(at: 4, oldest: 4, replaying: trimmed, isDamaged: true)
    #expect(!changesWhileIncomplete)
    trimmed.outputPicture(3)
    let changesBeforeOldest = use.changesPlace(at: 4, oldest: 2, replaying: trimmed, isDamaged: true)
    #expect(!changesBeforeOldest)
    let changes = use.changesPlace(at: 4, oldest: 4, replaying: trimmed, isDamaged: true)
    #expect(changes)
  }

  @Test(arguments: [SessionConfiguration.Hardware.off, .required])
  func leavesOnlyAPreferredDevice(_ wanted: SessionConfiguration.Hardware) {
    var use = HardwareUse(wanted)
    let isLeft = use.changesPlace(at: 5, oldest: 5, replaying: replay(from: 0), isDamaged: true)
    #expect(!isLeft && !use.isOptional && use.isOnDevice == (wanted == .required))
  }
}
