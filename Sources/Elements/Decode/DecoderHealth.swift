// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding

/// How decoding has been going: counts what was lost, and decides when that is too much.
struct DecoderHealth<Codec: DecoderCodec> {
  /// Pictures put out undamaged.
  private var decoded: UInt64 = 0
  /// Access units that no session took.
  private var undecodable: UInt64 = 0
  /// Access units left out in key-unit trick mode, or that had no picture before there was a session.
  private var skipped: UInt64 = 0
  /// Pictures that did not reach downstream, or its conversion, in the memory they were decoded into.
  private(set) var copied: UInt64 = 0
  /// Failures since the last good picture.
  private var failuresInARow = 0
  /// There were too many failures: the error that ends the stream once what is left has gone out.
  private var verdict: DecoderMessage<Codec>?
  /// Why the codec was lost for good the last time.
  private var loss: DecodeError?
  /// The last failure, in words.
  private(set) var lastFault: String?

  /// Access units that went by since a random access point was asked for; `nil` when none is awaited.
  private var awaited: Int?
  /// Ask again after so many pictures that were in need of one: the request may have been lost.
  private static var patience: Int { 30 }

  /// Access units that no session took, for whatever reason.
  var refused: UInt64 { undecodable &+ skipped }

  /// What to say at the end of a stream that no session was made for; `nil` when nothing is missing.
  var missingParameterSets: ElementError? {
    guard decoded == 0 && undecodable > 0 else { return nil }
    return ElementError(
      .stream(.format), "The stream has no parameter sets.",
      debug: "\(undecodable) access units came without the SPS and PPS (in the stream or in codec_data) that "
        + "decoding them takes")
  }

  /// A good picture is out.
  mutating func pictureDecoded() {
    decoded += 1
    failuresInARow = 0
    awaited = nil
  }

  /// A picture had to be copied.
  mutating func pictureCopied() { copied += 1 }

  /// No session took an access unit. Answers whether it is the first.
  mutating func accessUnitRefused() -> Bool {
    undecodable += 1
    return undecodable == 1
  }

  /// An access unit has no picture that is wanted.
  mutating func accessUnitSkipped() { skipped += 1 }

  /// What is to be made of a failure.
  enum Judgement {
    /// Nothing more: an error is on its way already.
    case ignore
    /// A line in the log.
    case log
    /// A warning for the application.
    case warn
    /// One too many in a row: put out what is left; then `takeVerdict` has the error.
    case giveUp
  }

  /// Counts a picture that could not be decoded.
  ///
  /// - Parameter limit: failures in a row that are allowed; below 0 without limit.
  mutating func judge(_ fault: PictureFault<Codec>, limit: Int32) -> Judgement {
    guard verdict == nil else { return .ignore }
    failuresInARow += 1
    lastFault = fault.description
    if limit >= 0, failuresInARow > Int(limit) {
      verdict = DecoderMessage(
        fault, prefix: "\(failuresInARow) pictures in a row could not be decoded; the last: ")
      return .giveUp
    }
    return fault.error.reason == .badData || fault.error.reason == .unsupportedFeature ? .log : .warn
  }

  /// The codec is gone, and could not be brought back. Answers what to tell of it.
  mutating func codecLost(_ error: DecodeError) -> DecoderMessage<Codec> {
    loss = error
    return DecoderMessage(error, before: "decoding goes on at the next random access point")
  }

  /// What to tell where the stream ends while the codec is lost; `nil` when it never was.
  var lossAtTheEnd: DecoderMessage<Codec>? {
    loss.map { DecoderMessage($0, before: "the stream ended before another random access point came") }
  }

  /// The error that ends the stream, once.
  mutating func takeVerdict() -> DecoderMessage<Codec>? { verdict.take() }

  /// A seek: what went before counts no more.
  mutating func flush() {
    failuresInARow = 0
    awaited = nil
    verdict = nil
  }

  /// Whether it is time to ask upstream for a random access point.
  mutating func mayRequestSyncPoint() -> Bool {
    guard let waited = awaited, waited < Self.patience else {
      awaited = 0
      return true
    }
    awaited = waited + 1
    return false
  }
}
