// SPDX-License-Identifier: MPL-2.0
import H26x

extension DecompressionSession {
  /// Decodes an access unit. `nextResult` gives its result, now or after more access units.
  ///
  /// If the access unit has a format, that is accepted first. If it is discontinuous, the session outputs everything
  /// inside and restarts decoding with it.
  ///
  /// - Throws: `DecodeError` if the access unit is not taken: `formatChangeNotSupported` if ``canAccept(_:)`` is
  ///   false for its format, `invalidSession`, or `invalidArgument` if it is empty. Everything else is a result.
  public func decode(_ accessUnit: AccessUnit) throws(DecodeError) {
    if let format = accessUnit.format { try accept(format) }
    if accessUnit.isDiscontinuous { endSequence() }
    let request = DecodeRequest(
      tag: accessUnit.tag, time: accessUnit.time, duration: accessUnit.duration, doNotOutput: accessUnit.doNotOutput)
    try decode(accessUnit.bytes.span, request)
  }
}
