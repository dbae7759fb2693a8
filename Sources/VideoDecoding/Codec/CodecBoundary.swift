// SPDX-License-Identifier: MPL-2.0
package import AVCodec

/// The interface of a codec to a session: values in, values out. Nothing above it depends on whether the codec is in
/// this process or in another.
///
/// The events of a call are reported before it returns, in the order of decoding; `report` may use the session, but not
/// the codec.
package protocol CodecBoundary: AnyObject {
  /// The delay from input to output, after the last call.
  var status: CodecStatus { get }
  /// The youngest access unit that it has taken; nil before the first.
  var youngest: UInt64? { get }
  /// Decodes an access unit, and reports the events.
  ///
  /// - Throws: only errors that mean the codec is lost.
  func decode(_ packet: Packet, index: UInt64, report: (CodecEvent) -> Void) throws(AVError)
  /// Waits until all access units sent are decoded, as far as possible without further input, and reports the events.
  ///
  /// - Throws: only errors that mean the codec is lost.
  func finishDecoding(report: (CodecEvent) -> Void) throws(AVError)
  /// Outputs everything inside.
  ///
  /// - Throws: only errors that mean the codec is lost.
  func drain(report: (CodecEvent) -> Void) throws(AVError)
  /// Discards everything inside.
  func flush()
  /// Pictures to skip, from the next packet on.
  func skip(_ pictures: CodecSettings.Skip)
  /// Copies a picture of this coded size that stays in the device's memory; nil if this codec cannot copy it.
  func samples(of surface: PictureSurface, width: Int, height: Int) throws(AVError) -> PictureMemory?
  /// The decoder in use.
  var decoder: SessionDecoder { get }
  /// The process that it is in; `nil` for the application's.
  var process: CodecProcess? { get }
}

extension CodecBoundary {
  package var decoder: SessionDecoder { .software }
  package var process: CodecProcess? { nil }
  package func finishDecoding(report: (CodecEvent) -> Void) throws(AVError) {}
  package func samples(of surface: PictureSurface, width: Int, height: Int) throws(AVError) -> PictureMemory? { nil }

  /// Whether it has come at least as far as `other`.
  func isAsFar(as other: any CodecBoundary) -> Bool {
    guard let reached = other.youngest else { return true }
    return youngest.map { $0 >= reached } ?? false
  }
}

/// Opens a codec, which writes its pictures into the bridge's memory.
package typealias CodecOpener = (CodecSettings, PictureBridge) throws(AVError) -> any CodecBoundary

/// The origin of a session's codecs.
struct CodecSource {
  let open: CodecOpener
  /// The reason that the last attempt found no device, or could start no process.
  var failure: () -> String? = { nil }
  /// The devices that could not be opened.
  var missingDevices = MissingDevices.shared
}
