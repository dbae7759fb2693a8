// SPDX-License-Identifier: MPL-2.0
import H26x

/// The header of a slice, which is read once: where access units begin depends on it, and what is reported of pictures.
struct SliceReading<Codec: ReportedCodec> {
  /// The header, or why it cannot be read.
  let header: Result<Codec.WholeSliceHeader, BitstreamError>
  /// Its syntax elements; nil where they are not reported.
  let trace: SyntaxTrace?
}

/// A whole slice header.
protocol WholeSliceHeaderSyntax: Sendable {
  associatedtype SliceHeader: SliceHeaderSyntax
  /// The part that distinguishes pictures.
  var header: SliceHeader { get }
  init(
    nalUnit: Span<UInt8>, parameterSets: borrowing SliceHeader.ParameterSets, trace: SyntaxTrace?
  ) throws(BitstreamError)
}

extension H264.WholeSliceHeader: WholeSliceHeaderSyntax {}
extension H265.WholeSliceHeader: WholeSliceHeaderSyntax {}
