// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// An error or a warning for the application, with the details that identify what went wrong.
struct DecoderMessage<Codec: DecoderCodec> {
  let error: ElementError
  private let reason: String
  private let status: Int32
  private var cause: DecodeError?
  private var frameNumber: FrameNumber?
  private var pts: ClockTime?

  /// An error outside of the session, not tied to an access unit.
  init(_ error: ElementError) {
    let reason: DecodeError.Reason =
      switch error.code {
      case .stream: .invalidFormatDescription
      case .resource: .allocationFailed
      default: .formatChangeNotSupported
      }
    self.init(error, reason)
  }

  /// The stream marks no random access point, and is decoded anyway.
  static var noRandomAccessPoint: DecoderMessage {
    DecoderMessage(
      ElementError(
        .stream(.decode), "The stream has no random access point to start at.",
        debug: "no IDR picture, recovery point or intra picture arrived in time: decoding began with the first "
          + "picture available, and pictures are flagged as corrupted"),
      reason: "referenceMissing", status: DecodeError.statusOfMissingReference)
  }

  /// The part that access units lack.
  enum Lack { case slices, parameterSets }

  /// Nothing that came so far can be decoded.
  static func nothingDecodable(_ lack: Lack) -> DecoderMessage {
    let debug =
      switch lack {
      case .slices: "no access unit has a slice; does stream-format in the caps match how NAL units are separated?"
      case .parameterSets: "no access unit came with parameter sets, nor did the caps"
      }
    return DecoderMessage(ElementError(.stream(.decode), "Nothing could be decoded so far.", debug: debug), .badData)
  }

  /// The codec's process is not as well protected as it could be.
  static func incompleteSandbox(missing: String) -> DecoderMessage {
    DecoderMessage(
      ElementError(
        .resource(.settings), "The codec's process lacks layers of protection.",
        debug: "this kernel or container does not provide: \(missing)"),
      reason: "incompleteSandbox", status: 0)
  }

  /// The environment demands isolation, and the application's own filter forbids it.
  static var notIsolated: DecoderMessage {
    DecoderMessage(
      ElementError(
        .resource(.settings), "Decoding is not isolated.",
        debug: "a system-call filter around this program forbids the child process that "
          + "\(DecoderDefaults.isolationVariable) requests; with isolation=process, this would be an error"),
      reason: "notIsolated", status: 0)
  }

  /// A value in the environment is none.
  static func ignoredDefault(_ fault: String) -> DecoderMessage {
    DecoderMessage(
      ElementError(.resource(.settings), "An environment variable has an invalid value.", debug: fault),
      reason: "ignoredDefault", status: 0)
  }

  /// Software decodes in place of a device.
  static func softwareFallback(reason: String) -> DecoderMessage {
    DecoderMessage(
      ElementError(
        .resource(.notFound), "Decoding continues in software.",
        debug: "\(reason); hardware=off decodes in software from the start"),
      reason: "softwareFallback", status: 0)
  }

  /// A muxer has left start codes in length-prefixed access units.
  static var misplacedStartCodes: DecoderMessage {
    DecoderMessage(
      .muxedWrongly("found start codes in length-prefixed access units, expected a length before each NAL unit"),
      .badData)
  }

  private init(_ error: ElementError, _ reason: DecodeError.Reason) {
    self.init(error, reason: "\(reason)", status: reason.status)
  }

  private init(_ error: ElementError, reason: String, status: Int32) {
    (self.error, self.reason, self.status) = (error, reason, status)
  }

  /// An error of the session, not tied to an access unit.
  ///
  /// - Parameter consequence: the consequence of the error.
  init(_ cause: DecodeError, before consequence: String? = nil) {
    var debug = "\(cause.message)"
    debug += cause.explanation
    if let consequence { debug += "; \(consequence)" }
    self.init(cause, debug: debug)
  }

  /// A picture that could not be decoded; `prefix` stands before its description.
  init(_ fault: PictureFault<Codec>, prefix: String = "") {
    self.init(fault.error, debug: prefix + fault.description)
    frameNumber = fault.frameNumber
    pts = fault.pts
  }

  private init(_ cause: DecodeError, debug: String) {
    self.init(ElementError(cause, codec: Codec.name, debug: debug), cause.reason)
    self.cause = cause
  }

  /// The message's structure of details.
  var details: Structure {
    var details = Structure("\(Codec.decoderName)-error")
    details.set("reason", .string(reason))
    details.set("videotoolbox-status", .int(status))
    details.set("averror", .int(cause?.libavcodecCode ?? 0))
    if let message = cause?.libavcodecMessage { details.set("averror-text", .string(message)) }
    if let detail = cause?.detail { details.set("detail", .string(detail)) }
    if let type = cause?.nalUnitType {
      details.set("nal-unit-type", .uint(UInt32(type)))
      details.set("nal-unit-name", .string(Codec.NALUnitType(rawValue: type).name))
    }
    if let frameNumber { details.set("frame-number", .uint(frameNumber)) }
    if let pts { details.set("pts", .uint64(pts.nanoseconds)) }
    return details
  }
}

/// A picture that could not be decoded, with what identifies it.
struct PictureFault<Codec: DecoderCodec> {
  let error: DecodeError
  let frameNumber: FrameNumber
  let pts: ClockTime?

  /// The fault in words, for logs and debug messages.
  var description: String {
    var text = "picture \(frameNumber)"
    if let pts { text += " at \(pts.nanoseconds) ns" }
    if let type = error.nalUnitType { text += ", NAL unit type \(type) (\(Codec.NALUnitType(rawValue: type).name))" }
    text += ": \(error.message)"
    return text + error.explanation
  }
}

extension DecodeError {
  /// The details that libavcodec, its process or a device adds, in parentheses.
  fileprivate var explanation: String {
    if let detail { return " (\(detail))" }
    return libavcodecMessage.map { " (libavcodec: \($0))" } ?? ""
  }
}

extension ElementError {
  /// The error domain, code and message for a failure of the session.
  fileprivate init(_ error: DecodeError, codec: String, debug: String) {
    switch error.reason {
    case .badData:
      self.init(.stream(.decode), "A picture could not be decoded.", debug: debug)
    case .unsupportedFeature:
      self.init(.stream(.notImplemented), "The stream uses a feature that cannot be decoded.", debug: debug)
    case .malfunction:
      self.init(.resource(.failed), "The codec failed and could not be replaced.", debug: debug)
    case .processUnavailable:
      self.init(
        .resource(.notFound), "No process to decode in: \(error.detail ?? "it could not be started").", debug: debug)
    case .hardwareUnavailable:
      self.init(
        .resource(.notFound),
        "No device decodes this stream: \(error.detail ?? "it was refused"). hardware=auto would decode it in software.",
        debug: debug)
    case .allocationFailed:
      self.init(.resource(.noSpaceLeft), "No memory for decoding.", debug: debug)
    case .decoderNotFound:
      let cause = error.detail.map { "libavcodec cannot be loaded: \($0)." } ?? "libavcodec has no \(codec) decoder."
      self.init(.stream(.codecNotFound), cause, debug: debug)
    case .invalidFormatDescription, .formatChangeNotSupported:
      self.init(.stream(.format), "The stream's format cannot be decoded.", debug: debug)
    case .invalidSession, .invalidArgument:
      self.init(.library(.failed), "The decompression session was misused.", debug: debug)
    }
  }
}
