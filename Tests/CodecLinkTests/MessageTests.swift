// SPDX-License-Identifier: MPL-2.0
import CodecLink
import Glibc
import Testing

@Suite struct MessageTests {
  @Test("fields are read as they were written, and nothing beyond them")
  func readsFieldsAsTheyWereWritten() throws {
    var writer = MessageWriter()
    writer.append(UInt8(1))
    writer.append(Int32.min)
    writer.append([UInt8(5), 6])
    writer.append(UInt64.max - 1)
    let bytes = writer.bytes
    var reader = MessageReader(bytes.span)
    #expect(try reader.read(UInt8.self) == 1)
    #expect(try reader.read(Int32.self) == .min)
    #expect(throws: LinkError.invalid) { try reader.finish() }
    #expect(try reader.readBytes(limit: 2) == [5, 6])
    #expect(try reader.read(UInt64.self) == .max - 1)
    try reader.finish()
    #expect(throws: LinkError.invalid) { try reader.read(UInt8.self) }
  }

  @Test("a count of bytes beyond the message, or beyond the expected size, is an error")
  func wrongCountsOfBytesAreErrors() {
    for bytes: [UInt8] in [[2, 0, 0, 0, 1], [0xFF, 0xFF, 0xFF, 0xFF, 1], [1, 0, 0], []] {
      var reader = MessageReader(bytes.span)
      #expect(throws: LinkError.invalid) { try reader.readBytes(limit: .max) }
    }
    let bytes: [UInt8] = [2, 0, 0, 0, 1, 2]
    var reader = MessageReader(bytes.span)
    #expect(throws: LinkError.invalid) { try reader.readBytes(limit: 1) }
  }

  @Test("every message of the service is read as it was written, and no part of it")
  func everyMessageComesBackWhole() throws {
    let hello = ServiceHello(release: "1.2.3")
    let readHello = try ServiceHello(reading: hello.bytes.span)
    #expect(readHello.protocolNumber == ServiceHello.protocolNumber)
    #expect(readHello.release == Array("1.2.3".utf8))
    let request = ServiceRequest(memoryLimit: 5 << 32, requiresSandbox: true)
    let bytes = request.bytes(number: 8)
    var reader = MessageReader(bytes.span)
    #expect(try reader.read(UInt32.self) == 8)
    let readRequest = try ServiceRequest(reading: &reader)
    #expect(readRequest.memoryLimit == 5 << 32)
    #expect(readRequest.requiresSandbox)
    let begun = try ServiceAnswer(reading: ServiceAnswer(number: 8, processIdentifier: 7).bytes.span)
    #expect(begun.number == 8 && begun.processIdentifier == 7)
    let failed = try ServiceAnswer(reading: ServiceAnswer(number: 9, failure: EAGAIN).bytes.span)
    #expect(failed.number == 9 && failed.processIdentifier == nil && failed.code == EAGAIN)
    let profiles = [
      DeviceProfile(number: 3, minimumWidth: 16, minimumHeight: 0, maximumWidth: 4096, maximumHeight: .max)
    ]
    let ready = ServiceReady(
      protection: [.landlock, .systemCallFilter],
      device: .opened(method: Array("CUDA".utf8), name: Array("a device".utf8), profiles: profiles))
    #expect(try ServiceReady(reading: ready.bytes.span).device == ready.device)
    #expect(try ServiceReady(reading: ready.bytes.span).protection == ready.protection)
    for ending in [ServiceEnding.exited(3), .signalled(9), .unknown] {
      #expect(try ServiceEnding(reading: ending.report.span) == ending)
    }
    for count in 0..<bytes.count {
      let cut = Array(bytes.prefix(count))
      #expect(throws: LinkError.invalid) {
        var reader = MessageReader(cut.span)
        _ = try reader.read(UInt32.self)
        _ = try ServiceRequest(reading: &reader)
      }
      #expect(throws: LinkError.invalid) { try ServiceHello(reading: Array(hello.bytes.prefix(min(count, 11))).span) }
    }
  }

  @Test("deadlines may be in the past, far away or never")
  func computesDeadlines() {
    #expect(Deadline.never.pollTimeout == -1)
    #expect(Deadline(after: .zero).pollTimeout == 0)
    #expect(Deadline(after: .seconds(-5)).pollTimeout == 0)
    #expect(Deadline(after: .seconds(Int64.max)).pollTimeout == -1)
    #expect(Deadline(after: .seconds(1 << 32)).pollTimeout == .max)
    #expect((1...3_600_000).contains(Deadline(after: .seconds(3_600)).pollTimeout))
  }

  @Test("protection lists the active layers and the missing ones")
  func listsActiveAndMissingProtection() {
    let some: Protection = [.landlock, .systemCallFilter]
    #expect(some.description == "system-call filter, Landlock")
    #expect(some.missing.union(some) == .all)
    #expect(some.missing.isDisjoint(with: some))
    #expect(Protection().description == "none")
    #expect(Protection.all.missing.description == "none")
  }
}
