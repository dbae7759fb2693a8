// SPDX-License-Identifier: MPL-2.0
import AVCodec
import Testing

@testable import VideoDecoding

@Suite struct DecodeErrorTests {
  private let record = LedgerEntry(
    index: 7, request: DecodeRequest(tag: 70),
    summary: DecodingSummary(randomAccess: .idr, nalUnitType: 5, isReference: true), standsAlone: true,
    sequenceStart: 7, recoveryStart: 7, start: .marked)

  @Test(arguments: [
    (AVError.invalidData, DecodeError.Reason.badData, Int32(-12909)),
    (.unsupportedFeature, .unsupportedFeature, -12910),
    (.external, .malfunction, -12911), (.noDevice, .malfunction, -12911), (.outOfMemory, .allocationFailed, -12904),
  ])
  func describesTheFailureOfAnAccessUnit(_ code: AVError, _ reason: DecodeError.Reason, _ status: Int32) {
    let error = DecodeError(decoding: record, code: code)
    #expect(error.reason == reason && error.status == status && error.libavcodecCode == code.rawValue)
    #expect(error.tag == 70 && error.accessUnitNumber == 7 && error.nalUnitType == 5)
    #expect(error.description.contains("access unit 7, NAL unit type 5, libavcodec: \(code.description)"))
  }

  @Test(arguments: [
    (AVError.invalidData, DecodeError.Reason.invalidFormatDescription), (.invalidArgument, .invalidFormatDescription),
    (.decoderNotFound, .decoderNotFound), (.outOfMemory, .allocationFailed), (.unsupportedFeature, .unsupportedFeature),
    (.external, .malfunction), (.endOfFile, .malfunction),
  ])
  func describesACodecThatDoesNotOpen(_ code: AVError, _ reason: DecodeError.Reason) {
    let error = DecodeError(opening: CodecFailure(code))
    #expect(error.reason == reason && error.libavcodecCode == code.rawValue)
    #expect(error.tag == nil && error.accessUnitNumber == nil && error.nalUnitType == nil)
    #expect(error.libavcodecMessage == code.description)
    #expect(error.description == "\(error.message), libavcodec: \(code.description) (\(error.status))")
  }

  @Test func everyReasonHasItsOwnMessage() {
    #expect(Set(DecodeError.Reason.allCases.map { "\(DecodeError($0).message)" }).count == 11)
    #expect(DecodeError(.invalidSession).description == "the session was invalidated (-12903)")
    #expect(DecodeError(decoding: record, code: .notImplemented).reason == .unsupportedFeature)
  }

  @Test func givesEachReasonItsStatus() {
    let statuses = DecodeError.Reason.allCases.map { DecodeError($0).status }
    #expect(Set(statuses).count == statuses.count && statuses.allSatisfy { $0 < -12_000 })
    #expect(DecodeError(.invalidSession).libavcodecMessage == nil)
  }

  @Test func usesTextsOfLibavcodec() {
    #expect(AVError.invalidData.description == "Invalid data found when processing input")
    #expect(throws: AVError.endOfFile) { try AVError.check(AVError.endOfFile.rawValue) }
    #expect(throws: Never.self) { try AVError.check(3) }
  }
}
