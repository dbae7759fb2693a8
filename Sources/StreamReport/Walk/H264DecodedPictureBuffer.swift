// SPDX-License-Identifier: MPL-2.0
import H26x

/// The decoded picture buffer of H.264: which pictures are marked as references (8.2.5), and which wait for output
/// (C.4.5.3).
package struct H264DecodedPictureBuffer: Sendable {
  /// Fields of a frame, a bit each.
  package enum Fields {
    static let top: UInt8 = 1
    static let bottom: UInt8 = 2
    package static let both: UInt8 = 3
  }

  /// A frame, a complementary field pair or a single field.
  package struct Frame: Sendable {
    package var frameNumber: UInt32
    /// `FrameNumWrap` against the current picture.
    package var wrapped: Int64 = 0
    /// Fields marked as used for short-term and for long-term reference.
    package var shortTerm: UInt8 = 0
    package var longTerm: UInt8 = 0
    /// `LongTermFrameIdx`.
    var longTermIndex: UInt32 = 0
    /// The fields that were decoded.
    package var fields: UInt8
    /// `TopFieldOrderCnt`.
    var top: Int32
    /// `BottomFieldOrderCnt`.
    var bottom: Int32
    /// False for a "non-existing" frame, which fills a gap in `frame_num`.
    package var exists = true
    var awaitsOutput = false

    package init(frameNumber: UInt32, fields: UInt8, top: Int32, bottom: Int32, exists: Bool = true) {
      (self.frameNumber, self.fields, self.top, self.bottom) = (frameNumber, fields, top, bottom)
      self.exists = exists
    }

    package var isReference: Bool { shortTerm | longTerm != 0 }
    var isShortTerm: Bool { shortTerm == Fields.both && longTerm == 0 }
    var isLongTerm: Bool { longTerm == Fields.both }
    /// `PicOrderCnt` of the frame or its only field.
    var order: Int32 { fields == Fields.top ? top : fields == Fields.bottom ? bottom : min(top, bottom) }
    func order(of field: UInt8) -> Int32 { field == Fields.top ? top : bottom }
  }

  /// Frames that are references or wait for output, in decoding order.
  package private(set) var frames: [Frame] = []
  /// The highest POC that was output since the last reset.
  private var lastOutput: Int32?

  package init() {}

  /// `FrameNumWrap` of all frames (8-27).
  package mutating func wrap(to frameNumber: UInt32, maximum: UInt32) {
    for index in frames.indices {
      let number = Int64(frames[index].frameNumber)
      frames[index].wrapped = frames[index].frameNumber > frameNumber ? number - Int64(maximum) : number
    }
  }

  // MARK: Marking

  /// The number of frames of which a field or both are marked as references.
  package var referenceCount: Int { frames.count { $0.isReference } }

  /// Sliding window marking (8.2.5.3): unmarks the short-term frame with the lowest `FrameNumWrap`.
  package mutating func slide(limit: Int) {
    guard referenceCount >= max(1, limit) else { return }
    var oldest: Int?
    for index in frames.indices where frames[index].shortTerm != 0 {
      if let place = oldest, frames[place].wrapped <= frames[index].wrapped { continue }
      oldest = index
    }
    if let oldest { frames[oldest].shortTerm = 0 }
  }

  /// The frame and fields of a picture number (8.2.4.1); nil if there is no such short-term picture.
  package func shortTerm(_ number: Int64, current: UInt8) -> (index: Int, fields: UInt8)? {
    let (wanted, fields) = Self.split(number, current: current)
    for index in frames.indices where frames[index].wrapped == wanted && frames[index].shortTerm & fields == fields {
      return (index, fields)
    }
    return nil
  }

  /// The frame and fields of a long-term picture number; nil if there is no such long-term picture.
  func longTerm(_ number: Int64, current: UInt8) -> (index: Int, fields: UInt8)? {
    let (wanted, fields) = Self.split(number, current: current)
    for index in frames.indices
    where Int64(frames[index].longTermIndex) == wanted && frames[index].longTerm & fields == fields {
      return (index, fields)
    }
    return nil
  }

  /// Picture numbers of fields are odd for the same parity, even for the opposite (8.2.4.1).
  private static func split(_ number: Int64, current: UInt8) -> (Int64, UInt8) {
    if current == Fields.both { return (number, Fields.both) }
    return (number >> 1, number & 1 == 1 ? current : current ^ Fields.both)
  }

  package mutating func unmarkShortTerm(_ found: (index: Int, fields: UInt8)) {
    frames[found.index].shortTerm &= ~found.fields
  }

  mutating func unmarkLongTerm(_ found: (index: Int, fields: UInt8)) { frames[found.index].longTerm &= ~found.fields }

  /// MMCO 3 (8.2.5.4.3).
  mutating func makeLongTerm(_ found: (index: Int, fields: UInt8), as longTermIndex: UInt32) {
    for index in frames.indices
    where index != found.index && frames[index].longTerm != 0 && frames[index].longTermIndex == longTermIndex {
      frames[index].longTerm = 0
    }
    if frames[found.index].longTerm != 0, frames[found.index].longTermIndex != longTermIndex {
      frames[found.index].longTerm = 0
    }
    frames[found.index].shortTerm &= ~found.fields
    frames[found.index].longTerm |= found.fields
    frames[found.index].longTermIndex = longTermIndex
  }

  /// MMCO 4: unmarks long-term pictures with this index or a higher one.
  mutating func limitLongTerm(to count: UInt32) {
    for index in frames.indices where frames[index].longTerm != 0 && frames[index].longTermIndex >= count {
      frames[index].longTerm = 0
    }
  }

  /// MMCO 6: unmarks the pictures with this index, which the current picture gets.
  mutating func freeLongTerm(_ longTermIndex: UInt32, exceptLast: Bool) {
    for index in frames.indices.dropLast(exceptLast ? 1 : 0)
    where frames[index].longTerm != 0 && frames[index].longTermIndex == longTermIndex {
      frames[index].longTerm = 0
    }
  }

  mutating func unmarkAll() {
    for index in frames.indices { (frames[index].shortTerm, frames[index].longTerm) = (0, 0) }
  }

  // MARK: Storing and output

  /// The number of frames that wait for output.
  var waitingCount: Int { frames.count { $0.awaitsOutput } }

  /// Empties the buffer when the POC is reset: pictures that wait are output or dropped.
  package mutating func clear() {
    frames = []
    lastOutput = nil
  }

  /// Stores a frame, or the second field of the last one.
  mutating func store(_ frame: Frame, isSecondField: Bool, capacity: Int) -> StorageTrouble {
    var trouble = StorageTrouble()
    if isSecondField, let last = frames.last, last.fields != Fields.both, last.fields & frame.fields == 0 {
      var merged = last
      merged.fields |= frame.fields
      merged.shortTerm |= frame.shortTerm
      merged.longTerm |= frame.longTerm
      if frame.longTerm != 0 { merged.longTermIndex = frame.longTermIndex }
      if frame.fields == Fields.top { merged.top = frame.top } else { merged.bottom = frame.bottom }
      frames[frames.count - 1] = merged
      return trouble
    }
    removeUnused()
    while frames.count >= max(1, capacity) {
      let next = nextForOutput
      // A non-reference picture that precedes all that wait is output without being stored (C.4.5.2).
      if !frame.isReference, frame.exists, next.map({ frame.order < frames[$0].order }) ?? true {
        output(frame.order, &trouble)
        return trouble
      }
      guard let next else {
        trouble.isFull = true
        if !frames.isEmpty { frames.removeFirst() }
        continue
      }
      output(frames[next].order, &trouble)
      frames[next].awaitsOutput = false
      removeUnused()
    }
    frames.append(frame)
    return trouble
  }

  private var nextForOutput: Int? {
    var next: Int?
    for index in frames.indices where frames[index].awaitsOutput {
      if let place = next, frames[place].order <= frames[index].order { continue }
      next = index
    }
    return next
  }

  private mutating func output(_ order: Int32, _ trouble: inout StorageTrouble) {
    if let lastOutput, order < lastOutput { trouble.late = (order, lastOutput) }
    lastOutput = max(order, lastOutput ?? order)
  }

  private mutating func removeUnused() { frames.removeAll { !$0.isReference && !$0.awaitsOutput } }
}
