// SPDX-License-Identifier: MPL-2.0
package import AVCodec
package import CodecLink

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
package typealias CodecOpener = (CodecSettings, PictureBridge) throws(CodecFailure) -> any CodecBoundary

/// The origin of a session's codecs.
struct CodecSource {
  let open: CodecOpener
  /// The devices that could not be opened.
  var missingDevices = MissingDevices.shared
}

/// The delay from a codec's input to its output.
package struct CodecStatus: Sendable, Hashable {
  /// Frames held back for reordering.
  package var reorderDepth = 0
  /// Frames held back by frame threads.
  package var threadDelay = 0

  /// Describes a codec's delays.
  package init(reorderDepth: Int = 0, threadDelay: Int = 0) {
    self.reorderDepth = reorderDepth
    self.threadDelay = threadDelay
  }
}

/// An event while a codec carries out an order.
package enum CodecEvent {
  /// Decoding of an access unit has ended, perhaps with an error; libavcodec found these errors in its picture.
  case decoded(index: UInt64, AVError?, FrameErrors)
  /// An error that has ended no decoding.
  case failed(index: UInt64, AVError)
  /// The picture of an access unit is decoded, and does not come out, because there is no memory to output it in.
  case unplaced(index: UInt64, AVError)
  /// A picture comes out; libavcodec found these errors in it.
  case picture(PictureDescription, PictureMemory, FrameErrors, isDraining: Bool, CodecStatus)
}

/// The codec's next step. The session carries it out, and reports the outcome to its core.
enum CodecOrder {
  /// Open a codec. If there is one, it is lost: keep it if none has come further, for the pictures inside.
  case open
  /// Decode the packet of an access unit, possibly in a replay.
  case decode(Packet, index: UInt64, isRepeated: Bool = false)
  /// Finish decoding the replayed access units.
  case finishReplay
  /// Output everything inside.
  case drain
  /// Discard everything inside.
  case flush
  /// Continue with the lost codec that has come furthest, and output everything inside.
  case drainLost
  /// Close the lost codec: another one has taken its place.
  case closeLost
  /// Close the codec.
  case close
}

/// The process that a codec is in.
package struct CodecProcess: Sendable {
  /// Its number, to be shown.
  package let identifier: Int32
  /// The layers of protection that are missing around it.
  package let missingProtection: Protection
}
