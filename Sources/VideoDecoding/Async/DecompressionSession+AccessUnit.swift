// SPDX-License-Identifier: MPL-2.0
import H26x

extension DecompressionSession {
  /// Decodes an access unit. `nextResult` gives its result, now or after more access units.
  ///
  /// Its format is accepted first, where it has one. Where it is discontinuous, everything that is inside is output, and
  /// decoding begins anew with it.
  ///
  /// - Throws: `DecodeError` when the access unit is not taken: `formatChangeNotSupported` where ``canAccept(_:)`` is
  ///   false for its format, `invalidSession`, or `invalidArgument` where it is empty. Everything else is a result.
  public func decode(_ accessUnit: AccessUnit) throws(DecodeError) {
    if let format = accessUnit.format { try accept(format) }
    if accessUnit.isDiscontinuous { endSequence() }
    let request = DecodeRequest(
      tag: accessUnit.tag, time: accessUnit.time, duration: accessUnit.duration, doNotOutput: accessUnit.doNotOutput)
    try decode(accessUnit.bytes.span, request)
  }
}
