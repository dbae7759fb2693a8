// SPDX-License-Identifier: MPL-2.0
import Foundation
import Glibc
import H26x
import HardwareSupport
import Synchronization
import TestSupport
import Testing

@testable import VideoDecoding

/// Many sessions on a device, and many faults.
///
/// `HARDWARE_FAULTS=5000` is the number of faults. If it is set, nothing else may run in the process, and leftovers are
/// counted.
@Suite(.enabled(if: VADriver.folder != nil), .serialized)
struct HardwareLoadTests {
  private static let wantedFaults = ProcessInfo.processInfo.environment["HARDWARE_FAULTS"].flatMap { Int($0) }

  /// Eight get the device, and the others report that they do not.
  @Test(arguments: ["clip.h264", "clip.h265"])
  func eightOf32SessionsGetADeviceThatAllowsEight(_ name: String) throws {
    let whole = try CodedStream(name)
    let stream = CodedStream(units: Array(whole.units.prefix(24)), format: whole.format)
    let driver = try VADriver([stream])
    driver.inject(.tooManyContexts, parameter: 8)
    let expected = try stream.softwareRun().checksums
    let sessions = try (0..<32).map { _ in try driver.session(stream) }
    var runs = sessions.map { _ in Run() }
    for (tag, unit) in stream.units.enumerated() {
      for (index, session) in sessions.enumerated() {
        try session.decode(unit, tag: UInt64(tag))
        session.takeResults(into: &runs[index])
      }
    }
    #expect(sessions.count { $0.decoder != .software } == 8)
    for (index, session) in sessions.enumerated() {
      session.drain()
      session.takeResults(into: &runs[index])
      #expect(runs[index].checksums == expected, "\(index)")
      #expect((session.decoder == .software) == (session.takeNotices().count == 1), "\(index)")
    }
  }

  /// Sessions on threads of their own, one driver, and faults that hit whichever comes first.
  @Test func sessionsOnThreadsFailIndependently() throws {
    let streams = try ["clip.h264", "clip.h265", "open-gop.h264", "interlaced.h265"].map { try CodedStream($0) }
    let driver = try VADriver(streams)
    let expected = try streams.map { try $0.softwareRun().checksums }
    let faults: [VADriver.Fault] = [.error, .crash, .lostContext, .syncFailure, .tooManyContexts, .none]
    let wrong = Mutex<[String]>([])
    let threads = streams.indices.map { index in
      Thread {
        var generator = SeededGenerator(state: UInt64(index))
        for round in 0..<4 {
          do {
            let session = try driver.session(streams[index])
            var run = Run()
            for (tag, unit) in streams[index].units.enumerated() {
              if Int.random(in: 0..<16, using: &generator) == 0, let fault = faults.randomElement(using: &generator) {
                driver.inject(fault, parameter: 2, times: 1)
              }
              try session.decode(unit, tag: UInt64(tag))
              session.takeResults(into: &run)
            }
            session.drain()
            session.takeResults(into: &run)
            guard run.checksums != expected[index] else { continue }
            let (failures, count) = (run.failures, run.frames.count)
            wrong.withLock { $0.append("\(index), round \(round): \(count) pictures, \(failures)") }
          } catch {
            wrong.withLock { $0.append("\(index), round \(round): \(error)") }
          }
        }
      }
    }
    for thread in threads { thread.start() }
    for thread in threads { while !thread.isFinished { usleep(1000) } }
    #expect(wrong.withLock { $0 } == [])
    #expect(driver.firedCount > 0)
  }

  // MARK: Faults one after the other

  /// Kinds of faults that a picture may meet; those that no hash finds are for streams with hashes.
  private static let kinds: [VADriver.Fault] = [
    .refusedProfile, .refusedSize, .fewSurfaces, .error, .hang, .crash, .wrongPixels, .lostContext, .syncFailure,
    .tooManyContexts,
  ]

  /// Every picture comes once and in its order, whatever the driver does, and nothing is left of any session.
  @Test func noFaultLosesOrRepeatsAPicture() throws {
    let streams = try ["clip.h264", "clip.h265", "open-gop.h264", "open-gop.h265"].map { name in
      let stream = try CodedStream(name)
      return CodedStream(units: Array(stream.units.prefix(24)), format: stream.format)
    }
    let expected = try streams.map { try $0.softwareRun().checksums }
    let drivers = try streams.map { try VADriver([$0]) }
    let count = Self.wantedFaults ?? 60
    var generator = SeededGenerator(state: 28)
    var (fired, hangs, inSoftware) = (0, 0, 0)
    var reasons: [String: Int] = [:]
    // The first ones begin the starters and load what stays.
    let warmUp = min(count / 2, 40)
    var settled: Usage?
    for number in 0..<count {
      if number == warmUp { settled = try Usage() }
      var kind = Self.kinds[number % Self.kinds.count]
      // Each waits for the time-out.
      if kind == .hang, number / Self.kinds.count % 5 != 0 { kind = .error }
      let place = Int.random(in: 0..<streams.count, using: &generator)
      let (stream, driver) = (streams[place], drivers[place])
      if kind == .wrongPixels, stream.format.codec == .h264 { kind = .syncFailure }
      let entry = Int.random(in: 0..<stream.units.count, using: &generator)
      // Every other one happens once, so that another attempt on the device succeeds.
      let times = kind != .hang && Bool.random(using: &generator) ? 1 : nil
      driver.inject(kind, parameter: kind == .fewSurfaces ? 2 : 0, entry: entry, times: times)
      let before = driver.firedCount
      let session = try driver.session(stream, timeout: kind == .hang ? .milliseconds(500) : .seconds(60))
      let run = try session.run(stream)
      let statistics = session.statistics
      let label = "fault \(number): \(kind) at \(entry) of stream \(place), \(times ?? -1) times"
      if run.checksums != expected[place] || !run.accounts(for: stream.units.count) {
        Issue.record("\(label): \(run.frames.count) of \(expected[place].count) pictures, \(run.failures)")
      }
      let notices = session.takeNotices()
      #expect(notices.count == (statistics.softwareFallbacks > 0 ? 1 : 0), "\(label): \(notices)")
      if driver.firedCount > before { fired += 1 }
      if kind == .hang { hangs += 1 }
      if statistics.softwareFallbacks > 0 { inSoftware += 1 }
      reasons["\(kind)", default: 0] += driver.firedCount > before ? 1 : 0
    }
    #expect(fired == count)
    let processes = drivers.flatMap {
      Usage.children(of: [$0.starter.hardware, $0.starter].compactMap { $0?.processIdentifier })
    }
    for process in processes {
      // The last ones end while this looks.
      #expect(comesTrue { kill(process, 0) != 0 }, "process \(process) is left")
    }
    guard Self.wantedFaults != nil, let before = settled else { return }
    let after = try Usage()
    #expect(after.descriptors <= before.descriptors)
    #expect(after.threads <= before.threads)
    print("hardware: \(count) faults, \(fired) fired, \(hangs) hangs, \(inSoftware) fall-backs; \(before) → \(after)")
    print("hardware: \(reasons)")
  }

  /// What the process holds.
  private struct Usage: CustomStringConvertible {
    let residentKiB: Int
    let descriptors: Int
    let threads: Int

    init() throws {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
      residentKiB = try #require(line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) })
      descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
      threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
    }

    var description: String { "\(residentKiB) KiB, \(descriptors) descriptors, \(threads) threads" }

    /// The processes that these have begun and that have not been reaped.
    static func children(of processes: [pid_t]) -> [pid_t] {
      processes.flatMap { process in
        let text = try? String(contentsOfFile: "/proc/\(process)/task/\(process)/children", encoding: .utf8)
        return (text ?? "").split(separator: " ").compactMap { pid_t($0) }
      }
    }
  }
}
