// SPDX-License-Identifier: MPL-2.0
import H26x

/// The header of a slice. It is read once, to find the start of access units and to report pictures.
///
/// A class, because headers are large: code that needs a part copies no more.
final class SliceReading<Codec: ReportedCodec> {
  /// The header; nil if it cannot be read.
  let header: Codec.WholeSliceHeader?
  /// The reason that it cannot be read; nil if it can.
  let error: BitstreamError?
  /// Its syntax elements; nil if they are not reported.
  let trace: SyntaxTrace?

  init(_ nalUnit: Span<UInt8>, _ sets: borrowing Codec.ParameterSets, trace: SyntaxTrace?) {
    self.trace = trace
    do throws(BitstreamError) {
      header = try Codec.WholeSliceHeader(nalUnit: nalUnit, parameterSets: sets, trace: trace)
      error = nil
    } catch {
      header = nil
      self.error = error
    }
  }
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
