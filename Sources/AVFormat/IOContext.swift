// SPDX-License-Identifier: MPL-2.0
package import AVCodec
import CAVFormat

/// Bytes behind callbacks (`AVIOContext`): one per file, freed after the format context that uses it.
@safe final class IOContext {
  /// The object that the callbacks are given.
  private final class Owner {
    let source: (any IOSource)?
    let sink: (any IOSink)?
    /// The first error of the source or the sink.
    var failure: AVError?

    init(_ source: (any IOSource)?, _ sink: (any IOSink)?) { (self.source, self.sink) = (source, sink) }

    func perform(_ body: () throws(AVError) -> Int64) -> Int64 {
      do throws(AVError) { return try body() } catch {
        if failure == nil { failure = error }
        return Int64(error.rawValue)
      }
    }

    func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
      perform { () throws(AVError) in
        let (position, size) = (source?.position ?? sink?.position ?? 0, source?.length ?? sink?.size)
        if whence == AVSEEK_SIZE { return size ?? Int64(AVError.notImplemented.rawValue) }
        let base: Int64? =
          switch whence {
          case SEEK_SET: 0
          case SEEK_CUR: position
          case SEEK_END: size
          default: nil
          }
        guard let base, case (let target, false) = base.addingReportingOverflow(offset), target >= 0 else {
          throw .invalidArgument
        }
        if target != position {
          try source?.seek(to: target)
          try sink?.seek(to: target)
        }
        return target
      }
    }
  }

  private let owner: Owner
  private let callbacks: UnsafeMutablePointer<cav_io>
  let raw: UnsafeMutablePointer<AVIOContext>

  /// Bytes that libavformat reads per call.
  private static var readSize: Int32 { 1 << 16 }
  /// Bytes that libavformat writes per call. File systems need less time for bytes that come in large pieces.
  private static var writeSize: Int32 { 1 << 18 }

  /// - Throws: `AVError.outOfMemory`.
  convenience init(reading source: any IOSource) throws(AVError) {
    try self.init(Owner(source, nil), isSeekable: source.isSeekable)
  }

  /// - Throws: `AVError.outOfMemory`.
  convenience init(writing sink: any IOSink) throws(AVError) {
    try self.init(Owner(nil, sink), isSeekable: sink.isSeekable)
  }

  private init(_ owner: Owner, isSeekable: Bool) throws(AVError) {
    self.owner = owner
    unsafe callbacks = .allocate(capacity: 1)
    unsafe callbacks.initialize(to: cav_io())
    unsafe callbacks.pointee.owner = Unmanaged.passUnretained(owner).toOpaque()
    if owner.source != nil {
      unsafe callbacks.pointee.read = { owner, bytes, count in
        guard let owner = unsafe owner, let bytes = unsafe bytes else { return AVError.invalidArgument.rawValue }
        let io = unsafe Unmanaged<Owner>.fromOpaque(owner).takeUnretainedValue()
        let buffer = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: Int(max(0, count)))
        return Int32(
          clamping: io.perform { () throws(AVError) in unsafe Int64(try io.source?.read(into: buffer) ?? 0) })
      }
    }
    if owner.sink != nil {
      unsafe callbacks.pointee.write = { owner, bytes, count in
        guard let owner = unsafe owner, let bytes = unsafe bytes else { return AVError.invalidArgument.rawValue }
        let io = unsafe Unmanaged<Owner>.fromOpaque(owner).takeUnretainedValue()
        let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: Int(max(0, count)))
        return Int32(
          clamping: io.perform { () throws(AVError) in
            unsafe try io.sink?.write(buffer)
            return Int64(count)
          })
      }
    }
    if isSeekable {
      unsafe callbacks.pointee.seek = { owner, offset, whence in
        guard let owner = unsafe owner else { return Int64(AVError.invalidArgument.rawValue) }
        return unsafe Unmanaged<Owner>.fromOpaque(owner).takeUnretainedValue().seek(offset, whence)
      }
    }
    guard let context = unsafe cav_io_alloc(callbacks, owner.sink == nil ? Self.readSize : Self.writeSize) else {
      unsafe callbacks.deallocate()
      throw .outOfMemory
    }
    // A pipe's reader gets every packet immediately; by default, libavformat writes files that way, too.
    if owner.sink?.isSeekable == true { unsafe context.pointee.min_packet_size = Self.writeSize }
    unsafe raw = context
  }

  deinit {
    var context: UnsafeMutablePointer<AVIOContext>? = unsafe raw
    unsafe cav_io_free(&context)
    unsafe callbacks.deallocate()
  }

  /// The first error of the source or the sink; nil without one. libavformat may report something vaguer.
  var failure: AVError? { owner.failure }

  /// Writes the buffered bytes.
  func flush() { unsafe cavio_flush(raw) }
}

/// The source of a container's bytes.
package protocol IOSource: AnyObject {
  /// Reads the next bytes. Returns how many; 0 at the end.
  ///
  /// - Throws: `AVError.inputOutput`, or what else reading fails with.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(AVError) -> Int
  /// Continues at another place, in bytes from the start.
  func seek(to position: Int64) throws(AVError)
  /// The position of the next bytes, in bytes from the start.
  var position: Int64 { get }
  /// The current number of bytes; nil if unknown.
  var length: Int64? { get }
  /// Whether ``seek(to:)`` works.
  var isSeekable: Bool { get }
}

/// The destination of a container's bytes.
package protocol IOSink: AnyObject {
  /// Writes all bytes at the current place.
  func write(_ bytes: UnsafeRawBufferPointer) throws(AVError)
  /// Continues at another place, in bytes from the start.
  func seek(to position: Int64) throws(AVError)
  /// The position of the next bytes, in bytes from the start.
  var position: Int64 { get }
  /// The current number of bytes; nil if unknown.
  var size: Int64? { get }
  /// Whether ``seek(to:)`` works.
  var isSeekable: Bool { get }
}

/// Ends calls of libavformat that wait (`AVIOInterruptCB`). It must outlive the context.
@safe final class Interruption {
  private let isInterrupted: @Sendable () -> Bool

  init(_ isInterrupted: @escaping @Sendable () -> Bool) { self.isInterrupted = isInterrupted }

  func install(in context: UnsafeMutablePointer<AVFormatContext>) {
    unsafe context.pointee.interrupt_callback.opaque = Unmanaged.passUnretained(self).toOpaque()
    unsafe context.pointee.interrupt_callback.callback = { opaque in
      guard let opaque = unsafe opaque else { return 0 }
      return unsafe Unmanaged<Interruption>.fromOpaque(opaque).takeUnretainedValue().isInterrupted() ? 1 : 0
    }
  }
}
