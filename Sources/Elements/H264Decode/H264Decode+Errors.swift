// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// A picture that could not be decoded, with what identifies it.
struct PictureFault {
  let error: DecodeError
  let frameNumber: UInt32
  let pts: ClockTime?

  init(_ error: DecodeError, frame: borrowing VideoCodecFrame) {
    self.error = error
    frameNumber = frame.systemFrameNumber
    pts = frame.pts
  }

  /// What was found, for developers.
  var description: String {
    var text = "picture \(frameNumber)"
    if let pts { text += " at \(pts.nanoseconds) ns" }
    if let type = error.nalUnitType { text += ", NAL unit type \(type) (\(H264.NALUnitType(rawValue: type).name))" }
    text += ": \(error.message)"
    if let message = error.libavcodecMessage { text += " (libavcodec: \(message))" }
    return text
  }
}

extension H264Decode {
  /// Counts a picture that could not be decoded; one too many in a row ends the stream.
  func count(_ fault: PictureFault) throws(FlowError) {
    guard !health.isGivingUp else { return }
    health.failuresInARow += 1
    health.lastFault = fault.description
    publishStatistics()
    let limit = maximumErrors
    guard limit >= 0, health.failuresInARow > Int(limit) else {
      if fault.error.reason == .badData || fault.error.reason == .unsupportedFeature {
        Self.log(.warning, self, fault.description)
      } else {
        let error = ElementError(fault.error, debug: fault.description)
        postWarning(error, details: details(of: fault.error, fault))
      }
      return
    }
    let error = ElementError(
      fault.error,
      debug: "\(health.failuresInARow) pictures in a row could not be decoded; the last: \(fault.description)")
    // The pictures before them wait inside for their turn: they are shown before the stream ends.
    health.isGivingUp = true
    defer { health.isGivingUp = false }
    session?.drain()
    try deliver()
    post(error, details: details(of: fault.error, fault))
    throw .error
  }

  /// Posts an error that ends the stream. Throw what it returns.
  func fail(_ error: DecodeError) -> FlowError {
    var debug = "\(error.message)"
    if let message = error.libavcodecMessage { debug += " (libavcodec: \(message))" }
    post(ElementError(error, debug: debug), details: details(of: error, nil))
    return .error
  }

  /// As `fail(_:)`, for errors outside of the session.
  func fail(_ error: ElementError) -> FlowError {
    post(error, details: details(of: error))
    return .error
  }

  /// Says so when a stream ends of which nothing could be decoded.
  func complainOfNothing() throws(FlowError) {
    guard health.decoded == 0, health.undecodable > 0, session == nil else { return }
    throw fail(
      ElementError(
        .stream(.format), "The stream has no parameter sets.",
        debug: "\(health.undecodable) access units came without the SPS and PPS (in the stream or in codec_data) that "
          + "decoding them takes"))
  }

  /// Asks upstream for a random access point, once until it comes or some time has gone by.
  func requestSyncPoint(for frame: borrowing VideoCodecFrame) {
    guard health.mayRequestSyncPoint() else { return }
    requestSyncPoint(at: frame, discardInput: false, corruptOutput: false)
  }

  private func details(of error: DecodeError, _ fault: PictureFault?) -> Structure {
    var details = Structure("swifth264dec-error")
    details.set("reason", .string("\(error.reason)"))
    details.set("videotoolbox-status", .int(error.status))
    details.set("averror", .int(error.libavcodecCode))
    if let message = error.libavcodecMessage { details.set("averror-text", .string(message)) }
    if let type = error.nalUnitType {
      details.set("nal-unit-type", .uint(UInt32(type)))
      details.set("nal-unit-name", .string(H264.NALUnitType(rawValue: type).name))
    }
    if let fault {
      details.set("frame-number", .uint(fault.frameNumber))
      if let pts = fault.pts { details.set("pts", .uint64(pts.nanoseconds)) }
    }
    return details
  }

  /// Details of an error that no access unit is to blame for.
  func details(of error: ElementError) -> Structure {
    var details = Structure("swifth264dec-error")
    let (reason, status): (String, Int32) =
      switch error.code {
      case .stream: ("invalidFormatDescription", -12712)
      case .resource: ("allocationFailed", -12904)
      default: ("formatChangeNotSupported", -12916)
      }
    details.set("reason", .string(reason))
    details.set("videotoolbox-status", .int(status))
    details.set("averror", .int(0))
    return details
  }
}

extension ElementError {
  /// The session's failure as applications know it.
  fileprivate init(_ error: DecodeError, debug: String) {
    switch error.reason {
    case .badData:
      self.init(.stream(.decode), "A picture could not be decoded.", debug: debug)
    case .unsupportedFeature:
      self.init(.stream(.notImplemented), "The stream uses a feature that cannot be decoded.", debug: debug)
    case .malfunction:
      self.init(.resource(.failed), "The codec failed and could not be brought back.", debug: debug)
    case .allocationFailed:
      self.init(.resource(.noSpaceLeft), "No memory to decode with.", debug: debug)
    case .decoderNotFound:
      self.init(.stream(.codecNotFound), "libavcodec has no H.264 decoder.", debug: debug)
    case .invalidFormatDescription, .formatChangeNotSupported:
      self.init(.stream(.format), "The stream's format cannot be decoded.", debug: debug)
    case .invalidSession, .invalidArgument:
      self.init(.library(.failed), "The decompression session was misused.", debug: debug)
    }
  }
}
