// SPDX-License-Identifier: MPL-2.0
import CodecLink
import Glibc
import Testing

@Suite struct LinkSocketTests {
  /// Two connected ends, of which either may be given up.
  private struct Ends: ~Copyable {
    var first: LinkSocket?
    var second: LinkSocket?

    init() throws(LinkError) {
      let pair = try DescriptorPair.sockets()
      first = LinkSocket(owning: pair.first)
      second = LinkSocket(owning: pair.second)
    }

    borrowing func send(
      _ bytes: [UInt8], descriptors: [Int32] = [], until deadline: Deadline = .never,
      unless cancellation: EventDescriptor? = nil
    ) throws(LinkError) {
      try first?.send(bytes.span, descriptors: descriptors, until: deadline, unless: cancellation)
    }

    borrowing func receive(
      into message: inout LinkMessage, until deadline: Deadline = .never, unless cancellation: EventDescriptor? = nil
    ) throws(LinkError) {
      try second?.receive(into: &message, until: deadline, unless: cancellation)
    }
  }

  private func array(_ bytes: Span<UInt8>) -> [UInt8] { bytes.indices.map { bytes[$0] } }

  private var openDescriptorCount: Int {
    (0..<1_024).count { fcntl($0, F_GETFD) >= 0 }
  }

  @Test("messages arrive whole and in order, including the largest one")
  func messagesArriveWholeAndInOrder() throws {
    let ends = try Ends()
    let messages: [[UInt8]] = [[1], Array(repeating: 7, count: LinkSocket.largestMessage), [2, 3]]
    var message = LinkMessage()
    for sent in messages {
      try ends.send(sent)
      try ends.receive(into: &message)
      let received = array(message.bytes)
      #expect(received == sent)
    }
    try ends.send([4])
    try ends.send([5, 6])
    try ends.receive(into: &message)
    #expect(message.bytes.count == 1)
    try ends.receive(into: &message)
    #expect(message.bytes.count == 2)
  }

  @Test("a message that is empty or too large is refused, and nothing is sent")
  func refusesEmptyAndOversizedMessages() throws {
    let ends = try Ends()
    for bytes in [[], Array(repeating: UInt8(0), count: LinkSocket.largestMessage + 1)] {
      let error = #expect(throws: LinkError.self) { try ends.send(bytes) }
      #expect(error == .invalid)
    }
    let many = Array(repeating: Int32(0), count: LinkSocket.descriptorLimit + 1)
    #expect(throws: LinkError.invalid) { try ends.send([1], descriptors: many) }
    var message = LinkMessage()
    #expect(throws: LinkError.timedOut) { try ends.receive(into: &message, until: Deadline(after: .zero)) }
  }

  @Test("a message that is larger than expected is an error, and the next one is read")
  func aMessageLargerThanExpectedIsAnError() throws {
    let ends = try Ends()
    var message = LinkMessage(capacity: 4)
    try ends.send([1, 2, 3, 4, 5])
    try ends.send([6])
    #expect(throws: LinkError.invalid) { try ends.receive(into: &message) }
    #expect(message.bytes.count == 0)
    try ends.receive(into: &message)
    let received = array(message.bytes)
    #expect(received == [6])
  }

  @Test("descriptors are passed, close on execution, and stay the receiver's when the sender closes its own")
  func passesDescriptors() throws {
    let ends = try Ends()
    let event = try EventDescriptor()
    event.signal()
    let pipe = try DescriptorPair.pipe()
    try ends.send([1], descriptors: [event.rawValue, pipe.first.rawValue])
    var message = LinkMessage(descriptorCount: 2)
    try ends.receive(into: &message)
    var received: [Int32] = []
    while let descriptor = message.takeDescriptor() { received.append(descriptor.release()) }
    #expect(received.count == 2)
    for descriptor in received { #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0) }
    var state = pollfd(fd: received.first ?? -1, events: Int16(POLLIN), revents: 0)
    #expect(unsafe poll(&state, 1, 0) == 1)
    for descriptor in received { close(descriptor) }
  }

  @Test("unexpected descriptors are an error and are closed, as are those that nobody takes")
  func closesUnexpectedDescriptors() throws {
    let ends = try Ends()
    let event = try EventDescriptor()
    let before = openDescriptorCount
    for accepted in 0..<3 {
      var message = LinkMessage(descriptorCount: accepted)
      for _ in 0..<3 {
        try ends.send([1], descriptors: Array(repeating: event.rawValue, count: 3))
        #expect(throws: LinkError.invalid) { try ends.receive(into: &message) }
        try ends.send([1], descriptors: Array(repeating: event.rawValue, count: accepted))
        try ends.receive(into: &message)
      }
    }
    // The test's neighbours open and close descriptors too, but not hundreds.
    #expect(openDescriptorCount < before + 100)
  }

  @Test("the end of the other process is distinguished from silence")
  func distinguishesTheEndOfThePeerFromSilence() throws {
    var ends = try Ends()
    ends.first = nil
    var message = LinkMessage()
    #expect(throws: LinkError.closed) { try ends.receive(into: &message) }
    #expect(throws: LinkError.closed) {
      try ends.receive(into: &message, until: Deadline(after: .seconds(60)), unless: EventDescriptor())
    }
    let error = #expect(throws: LinkError.self) { try ends.second?.send([UInt8(1)].span) }
    #expect(error == .closed)
  }

  @Test("messages sent before the other end closed are still read")
  func readsMessagesSentBeforeThePeerClosed() throws {
    var ends = try Ends()
    try ends.send([1])
    ends.first = nil
    var message = LinkMessage()
    try ends.receive(into: &message)
    #expect(message.bytes.count == 1)
    #expect(throws: LinkError.closed) { try ends.receive(into: &message) }
  }

  @Test("waits to send and to receive end at their deadline or when cancelled")
  func waitsEndAtTheirDeadlineOrWhenCancelled() throws {
    let ends = try Ends()
    var message = LinkMessage()
    #expect(throws: LinkError.timedOut) { try ends.receive(into: &message, until: Deadline(after: .milliseconds(1))) }
    let cancellation = try EventDescriptor()
    cancellation.signal()
    #expect(throws: LinkError.cancelled) { try ends.receive(into: &message, unless: cancellation) }
    let bytes = Array(repeating: UInt8(0), count: LinkSocket.largestMessage)
    let error = #expect(throws: LinkError.self) {
      while true { try ends.send(bytes, until: Deadline(after: .milliseconds(1))) }
    }
    #expect(error == .timedOut)
    #expect(throws: LinkError.cancelled) { try ends.send(bytes, unless: cancellation) }
    cancellation.clear()
    #expect(!cancellation.isSignalled)
    try ends.receive(into: &message, unless: cancellation)
    #expect(message.bytes.count == bytes.count)
  }

  @Test("a cancellation from another thread wakes a wait that has begun")
  func cancellationWakesAWait() async throws {
    let cancellation = try EventDescriptor()
    async let error: LinkError? = {
      do throws(LinkError) {
        let ends = try Ends()
        var message = LinkMessage()
        try ends.receive(into: &message, unless: cancellation)
        return nil
      } catch { return error }
    }()
    cancellation.signal()
    #expect(await error == .cancelled)
  }
}
