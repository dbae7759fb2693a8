// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Testing

// A base class that the library does not have, added with public declarations only; Tests/Scripts/NewPlugin does the same in a
// package of its own.

/// Puts several streams together (`GstAggregator`).
private class Aggregator: Element {
  private var aggregator: UnsafeMutablePointer<GstAggregator> {
    unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstAggregator.self)
  }

  /// Every input has a buffer or is at its end; or it has taken too long.
  func aggregate(isLate: Bool) throws(FlowError) {}

  /// The next buffers of all inputs, one behind the other; empty when all are at their end.
  func popBuffers() -> Buffer {
    var joined = Buffer()
    var next = unsafe raw.pointee.sinkpads
    while let node = unsafe next {
      unsafe next = node.pointee.next
      let pad = unsafe node.pointee.data.assumingMemoryBound(to: GstAggregatorPad.self)
      if let buffer = unsafe gst_aggregator_pad_pop_buffer(pad) { joined.append(unsafe Buffer(owning: buffer)) }
    }
    return joined
  }

  /// Pushes a buffer downstream.
  func finish(_ buffer: consuming Buffer) throws(FlowError) {
    try unsafe FlowError.check(gst_aggregator_finish_buffer(aggregator, buffer.take()))
  }

  override class var parentType: (type: GType, instanceSize: Int) {
    unsafe (gst_aggregator_get_type(), MemoryLayout<GstAggregator>.stride)
  }
  @unsafe override class func installVirtualMethods(in classStructure: UnsafeMutableRawPointer) {
    let methods = unsafe classStructure.assumingMemoryBound(to: GstAggregatorClass.self)
    unsafe methods.pointee.aggregate = { aggregator, isLate in
      unsafe VirtualMethod.flow(aggregator) { (element: Aggregator) in
        { () throws(FlowError) in try element.aggregate(isLate: isLate != 0) }
      }
    }
  }
}

private final class Joiner: Aggregator {
  override class var padTemplates: [PadTemplate] {
    [.sink("ANY", named: "sink_%u", .request), .source("application/x-joined")]
  }
  override func aggregate(isLate: Bool) throws(FlowError) {
    let buffer = popBuffers()
    guard buffer.size > 0 else { throw .endOfStream }
    try finish(buffer)
  }
}

@Suite struct OwnBaseClassTests {
  @Test func userDefinedBaseClassWorks() async throws {
    try Joiner.register(as: "testjoiner", typeName: "GstTestJoiner")
    func source(_ pattern: String) -> String {
      "videotestsrc pattern=\(pattern) num-buffers=3 ! video/x-raw,format=GRAY8,width=4,height=1 ! j."
    }
    let joined = try await samples(of: "\(source("black")) \(source("white")) testjoiner name=j")
    #expect(joined.count == 3)
    for sample in joined { #expect(try sample.copiedBytes() == [16, 16, 16, 16, 235, 235, 235, 235]) }
  }
}
