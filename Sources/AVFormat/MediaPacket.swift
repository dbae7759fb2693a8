// SPDX-License-Identifier: MPL-2.0
package import AVCodec
import CAVFormat

/// A sample of a stream in a container (`AVPacket`).
@safe package struct MediaPacket: ~Copyable {
  let raw: UnsafeMutablePointer<AVPacket>

  /// An empty packet.
  ///
  /// - Throws: `AVError.outOfMemory`.
  package init() throws(AVError) {
    guard let packet = unsafe cav_packet_alloc() else { throw .outOfMemory }
    unsafe raw = packet
  }

  /// A packet with a copy of these bytes.
  ///
  /// - Throws: `AVError.outOfMemory`; `AVError.invalidArgument` for 2³¹ bytes or more.
  package init(copying bytes: Span<UInt8>) throws(AVError) {
    guard let size = Int32(exactly: bytes.count) else { throw .invalidArgument }
    guard let packet = unsafe cav_packet_alloc() else { throw .outOfMemory }
    let code = unsafe cav_new_packet(packet, size)
    guard code >= 0 else {
      var packet: UnsafeMutablePointer<AVPacket>? = unsafe packet
      unsafe cav_packet_free(&packet)
      throw AVError(rawValue: code)
    }
    unsafe bytes.withUnsafeBytes { bytes in
      if let data = unsafe packet.pointee.data {
        unsafe UnsafeMutableRawBufferPointer(start: data, count: bytes.count).copyMemory(from: bytes)
      }
    }
    unsafe raw = packet
  }

  deinit {
    var packet: UnsafeMutablePointer<AVPacket>? = unsafe raw
    unsafe cav_packet_free(&packet)
  }

  /// The packet's stream in the container.
  package var stream: Int {
    get { unsafe Int(raw.pointee.stream_index) }
    set { unsafe raw.pointee.stream_index = Int32(clamping: newValue) }
  }
  /// When it is presented, in ticks of the stream; nil if the container does not have it.
  package var presentation: Int64? {
    get { unsafe .timestamp(raw.pointee.pts) }
    set { unsafe raw.pointee.pts = newValue ?? CAV_NO_TIMESTAMP }
  }
  /// When it is decoded, in ticks of the stream; nil if the container does not have it.
  package var decoding: Int64? {
    get { unsafe .timestamp(raw.pointee.dts) }
    set { unsafe raw.pointee.dts = newValue ?? CAV_NO_TIMESTAMP }
  }
  /// The duration, in ticks of the stream; 0 if unknown.
  package var duration: Int64 {
    get { unsafe raw.pointee.duration }
    set { unsafe raw.pointee.duration = newValue }
  }
  /// The packet's position in the file, in bytes; nil if unknown.
  package var position: Int64? { unsafe raw.pointee.pos >= 0 ? raw.pointee.pos : nil }
  /// The container marks it as a sync sample.
  package var isKey: Bool {
    get { unsafe raw.pointee.flags & AV_PKT_FLAG_KEY != 0 }
    set { set(AV_PKT_FLAG_KEY, newValue) }
  }

  private func set(_ flag: Int32, _ isSet: Bool) {
    if isSet { unsafe raw.pointee.flags |= flag } else { unsafe raw.pointee.flags &= ~flag }
  }

  /// Its bytes.
  package var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      let count = unsafe raw.pointee.data == nil ? 0 : Int(raw.pointee.size)
      let bytes = unsafe Span(
        _unsafeElements: UnsafeBufferPointer(start: raw.pointee.data, count: count))
      return unsafe _overrideLifetime(bytes, borrowing: self)
    }
  }

  /// A copy of its bytes.
  package func copiedBytes() -> [UInt8] { unsafe bytes.withUnsafeBufferPointer { unsafe Array($0) } }

  /// Removes bytes from its beginning.
  package mutating func removeFirst(_ count: Int) {
    guard let count = Int32(exactly: count), count >= 0, unsafe count <= raw.pointee.size else { return }
    unsafe raw.pointee.data = raw.pointee.data?.advanced(by: Int(count))
    unsafe raw.pointee.size -= count
  }

  /// Its side data.
  package var sideData: [SideData] {
    (0..<Int(unsafe raw.pointee.side_data_elems)).map { unsafe SideData(copying: raw.pointee.side_data[$0]) }
  }

  /// Lets its contents go.
  mutating func empty() { unsafe cav_packet_unref(raw) }
}
