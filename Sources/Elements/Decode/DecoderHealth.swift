// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding

/// Counts losses in decoding, and decides when they are too many.
struct DecoderHealth<Codec: DecoderCodec> {
  /// Pictures output undamaged.
  private var decoded: UInt64 = 0
  /// Access units that no session took.
  private var undecodable: UInt64 = 0
  /// Access units skipped in key-unit trick mode, or without a picture before there was a session.
  private var skipped: UInt64 = 0
  /// Pictures copied out of the memory that they were decoded into.
  private(set) var copied: UInt64 = 0
  /// Failures since the last good picture.
  private var failuresInARow = 0
  /// Access units so far, as long as none of them could be given to a session.
  private var unusable: Int? = 0
  /// The error for too many failures, or a final one, which ends the stream once earlier pictures were output.
  private var verdict: DecoderMessage<Codec>?
  /// The reason the codec was lost the last time.
  private var loss: DecodeError?
  /// The last failure, in words.
  private(set) var lastFault: String?

  /// Pictures that needed a random access point since one was requested; `nil` when none is awaited.
  private var awaited: Int?
  /// Pictures after which it is requested again: the request may have been lost.
  private static var patience: Int { 30 }

  /// Access units that no session took, for whatever reason.
  var refused: UInt64 { undecodable &+ skipped }

  /// The error at the end of a stream for which no session was made; `nil` when nothing is missing.
  var missingParameterSets: ElementError? {
    guard decoded == 0 && undecodable > 0 else { return nil }
    return ElementError(
      .stream(.format), "The stream has no parameter sets.",
      debug: "\(undecodable) access units came without the SPS and PPS (in the stream or in codec_data) that "
        + "are needed to decode them")
  }

  /// A good picture was output.
  mutating func pictureDecoded() {
    decoded += 1
    failuresInARow = 0
    awaited = nil
  }

  /// A session takes an access unit.
  mutating func accessUnitTaken() { unusable = nil }

  /// An access unit cannot be given to a session. Returns the warning to post if the first and many after it could
  /// not.
  mutating func accessUnitUnusable() -> DecoderMessage<Codec>? {
    unusable = unusable.map { $0 + 1 }
    return unusable == Self.patience ? .nothingDecodable(undecodable > 0 ? .parameterSets : .slices) : nil
  }

  /// A picture had to be copied.
  mutating func pictureCopied() { copied += 1 }

  /// No session took an access unit. Returns whether it is the first.
  mutating func accessUnitRefused() -> Bool {
    undecodable += 1
    return undecodable == 1
  }

  /// An access unit was skipped that has no picture to output.
  mutating func accessUnitSkipped() { skipped += 1 }

  /// The consequence of a failure.
  enum Judgement {
    /// Nothing: the error that ends the stream is on its way.
    case ignore
    /// A line in the log.
    case log
    /// A warning for the application.
    case warn
    /// One too many in a row: output the rest; then `takeVerdict` has the error.
    case giveUp
  }

  /// Counts a picture that could not be decoded.
  ///
  /// - Parameter limit: failures in a row that are allowed; below 0 without limit.
  mutating func judge(_ fault: PictureFault<Codec>, limit: Int32) -> Judgement {
    guard verdict == nil else { return .ignore }
    failuresInARow += 1
    lastFault = fault.description
    if fault.error.isFinal {
      verdict = DecoderMessage(fault)
      return .giveUp
    }
    if limit >= 0, failuresInARow > Int(limit) {
      verdict = DecoderMessage(
        fault, prefix: "\(failuresInARow) pictures in a row could not be decoded; the last: ")
      return .giveUp
    }
    return fault.error.reason == .badData || fault.error.reason == .unsupportedFeature ? .log : .warn
  }

  /// The codec was lost and could not be restarted. Returns the warning to post; `nil` if that ends the stream.
  mutating func codecLost(_ error: DecodeError) -> DecoderMessage<Codec>? {
    guard !error.isFinal else {
      verdict = verdict ?? DecoderMessage(error)
      return nil
    }
    loss = error
    return DecoderMessage(error, before: "decoding continues at the next random access point")
  }

  /// The error for a stream that ends while the codec is lost; `nil` when it never was.
  var lossAtTheEnd: DecoderMessage<Codec>? {
    loss.map { DecoderMessage($0, before: "the stream ended before another random access point came") }
  }

  /// The error that ends the stream, once.
  mutating func takeVerdict() -> DecoderMessage<Codec>? { verdict.take() }

  /// A seek: failures before it do not count.
  mutating func flush() {
    failuresInARow = 0
    awaited = nil
    verdict = nil
  }

  /// Whether to request a random access point from upstream now.
  mutating func mayRequestSyncPoint() -> Bool {
    guard let waited = awaited, waited < Self.patience else {
      awaited = 0
      return true
    }
    awaited = waited + 1
    return false
  }
}

extension DecodeError {
  /// No later picture can be decoded: a device is required, and none decodes the stream.
  fileprivate var isFinal: Bool { reason == .hardwareUnavailable }
}
