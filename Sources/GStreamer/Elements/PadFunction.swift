// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A C function of a pad that calls a Swift function.
///
/// The Swift function is kept in the pad's qdata. The C function's user data is lost when an application puts a function
/// of its own in front of it, as GstValidate does.
enum PadFunction: Int, CaseIterable {
  case buffer, bufferList, event, query

  /// Unique to this copy of the type: another plugin in Swift may keep objects of its own classes.
  private static let quarks = allCases.map {
    let address = UInt(bitPattern: ObjectIdentifier(PadFunction.self))
    return unsafe g_quark_from_string("gst-swift-pad-\($0)-\(address)")
  }

  private var quark: GQuark { Self.quarks[rawValue] }

  /// Keeps the Swift function until the pad is gone or gets another one.
  func keep(_ handler: AnyObject, in pad: Pad) {
    unsafe g_object_set_qdata_full(
      UnsafeMutableRawPointer(pad.raw).assumingMemoryBound(to: GObject.self), quark,
      Unmanaged.passRetained(handler).toOpaque(),
      { if let handler = unsafe $0 { unsafe Unmanaged<AnyObject>.fromOpaque(handler).release() } })
  }

  /// The Swift function that a pad keeps.
  func handler<Handler: AnyObject>(of pad: UnsafeMutablePointer<GstPad>, as: Handler.Type) -> Handler? {
    let object = unsafe UnsafeMutableRawPointer(pad).assumingMemoryBound(to: GObject.self)
    return unsafe g_object_get_qdata(object, quark).map {
      unsafe Unmanaged<Handler>.fromOpaque($0).takeUnretainedValue()
    }
  }
}

/// The Swift function behind a function of a pad that takes an object.
final class PadHandler<Object: ~Copyable, Answer> {
  let body: (consuming Object) -> Answer
  init(_ body: @escaping (consuming Object) -> Answer) { self.body = body }
}

/// The Swift function behind a pad's query function.
final class PadQueryHandler {
  let body: (borrowing Query) -> Bool
  init(_ body: @escaping (borrowing Query) -> Bool) { self.body = body }
}
