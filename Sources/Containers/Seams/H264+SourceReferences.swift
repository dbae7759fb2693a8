// SPDX-License-Identifier: MPL-2.0
import H26x
import StreamReport

extension H264 {
  static var sourceReferences: (any SourceReferencing<H264>)? { SourceReferences() }

  /// The reference pictures of the source (8.2.5). Frames of the buffer "exist" if they are decoded behind the entry.
  struct SourceReferences: SourceReferencing {
    typealias Codec = H264

    private var buffer = H264DecodedPictureBuffer()
    /// `PrevRefFrameNum`.
    private var previousFrameNumber: UInt32 = 0
    private var isBehindEntry = false
    /// A picture could not be read.
    private var isUnknown = false

    /// More frames than a legal stream refers to.
    private static let capacity = 32

    mutating func begin() { isBehindEntry = true }

    var hasEarlier: Bool { isUnknown || buffer.frames.contains { $0.isReference && !$0.exists } }

    mutating func next(_ accessUnit: MediaOutput.AccessUnit, _ packaging: NALPackaging, _ sets: ParameterSets) {
      do throws(BitstreamError) {
        guard let picture = try SeamReferences.first(accessUnit.bytes, packaging, sets) else { return }
        mark(picture.slice, picture.marking, picture.sps, isSecondField: accessUnit.role.isSecondField)
      } catch { isUnknown = true }
    }

    private mutating func mark(
      _ slice: SliceHeader, _ marking: SeamReferences.Marking?, _ sps: SequenceParameterSet, isSecondField: Bool
    ) {
      if slice.isIDR {
        buffer.clear()
        isUnknown = false
      } else if !isSecondField {
        buffer.fillGap(before: slice, after: previousFrameNumber, sps, capacity: Self.capacity)
        if slice.frameNumber(after: previousFrameNumber, sps) > 1 {
          previousFrameNumber = (slice.frameNumber &- 1) & sps.frameNumberMask
        }
      }
      buffer.wrap(to: slice.frameNumber, maximum: sps.frameNumberMask + 1)
      guard slice.isReference else { return }
      var frame = H264DecodedPictureBuffer.Frame(
        frameNumber: slice.frameNumber, fields: slice.fields, top: 0, bottom: 0, exists: isBehindEntry)
      frame.shortTerm = slice.fields
      let joins =
        isSecondField && buffer.frames.last.map { $0.isReference && $0.fields & frame.fields == 0 } ?? false
      switch marking {
      case .idr(_, let isLongTerm): if isLongTerm { (frame.shortTerm, frame.longTerm) = (0, slice.fields) }
      case .adaptive(let operations):
        for operation in operations { _ = buffer.perform(operation, of: slice, &frame, joins: joins) }
      default: if !joins { buffer.slide(limit: Int(sps.maximumReferenceFrames)) }
      }
      if marking?.hasOperation5 == true { frame.frameNumber = 0 }
      previousFrameNumber = frame.frameNumber
      buffer.storeReference(frame, isSecondField: isSecondField, capacity: Self.capacity)
    }
  }
}
