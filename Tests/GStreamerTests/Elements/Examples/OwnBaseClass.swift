// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import GStreamer
import HarnessSupport
import Testing

// A base class that the library does not have, added with public means alone: random access sources (`GstBaseSrc`).

private class RandomAccessSource: Element {
  var size: UInt64 { 0 }
  func read(_ range: Range<UInt64>) throws(FlowError) -> Buffer { throw .endOfStream }

  override class var parentType: (type: GType, instanceSize: Int) {
    unsafe (gst_base_src_get_type(), MemoryLayout<GstBaseSrc>.stride)
  }
  @unsafe override class func installVirtualMethods(in classStructure: UnsafeMutableRawPointer) {
    let methods = unsafe classStructure.assumingMemoryBound(to: GstBaseSrcClass.self)
    unsafe methods.pointee.is_seekable = { _ in 1 }
    unsafe methods.pointee.get_size = { source, size in
      guard let element = unsafe swiftObject(source, as: RandomAccessSource.self) else { return 0 }
      unsafe size?.pointee = guint64(element.size)
      return 1
    }
    unsafe methods.pointee.create = { source, offset, length, output in
      guard let element = unsafe swiftObject(source, as: RandomAccessSource.self) else { return GST_FLOW_ERROR }
      do throws(FlowError) {
        let start = min(UInt64(offset), element.size)
        let buffer = try element.read(start..<min(start + UInt64(length), element.size))
        unsafe output?.pointee = buffer.take()
        return GST_FLOW_OK
      } catch {
        return GstFlowReturn(rawValue: error.rawValue)
      }
    }
  }
}

private final class Counting: RandomAccessSource {
  override class var padTemplates: [PadTemplate] { [.source("ANY")] }
  override var size: UInt64 { 100 }
  override func read(_ range: Range<UInt64>) throws(FlowError) -> Buffer {
    guard !range.isEmpty else { throw .endOfStream }
    let bytes = range.map { UInt8(truncatingIfNeeded: $0) }
    guard let buffer = Buffer(copying: bytes.span) else { throw .error }
    return buffer
  }
}

@Suite struct OwnBaseClassTests {
  @Test func aBaseClassOfAUsersOwnWorks() async throws {
    Harness.initialise()
    Counting.register(as: "testcounting", typeName: "GstTestCounting")
    let pipeline = try Pipeline("testcounting blocksize=30 ! appsink name=out sync=false")
    let samples = try pipeline.appSink("out")
    try await pipeline.play()
    var bytes: [UInt8] = []
    for try await sample in samples { bytes += try sample.buffer.copiedBytes() }
    #expect(bytes == Array(0..<100))
    await pipeline.stop()
  }
}
