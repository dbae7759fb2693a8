// SPDX-License-Identifier: MPL-2.0
import H26x

/// The decoded picture buffer of H.265: reference picture sets (8.3.2) and output by bumping (C.5.2).
struct H265DecodedPictureBuffer: Sendable {
  /// A picture that is a reference or waits for output.
  struct Picture: Sendable {
    var order: Int32
    var isReference = true
    var awaitsOutput: Bool
    /// Pictures that followed it in decoding order and precede it in output order (`PicLatencyCount`).
    var latency = 0
  }

  private(set) var pictures: [Picture] = []
  private var lastOutput: Int32?

  /// The limits of the SPS for its highest sub-layer, in pictures.
  struct Limits: Sendable {
    var capacity: Int
    var reorder: Int
    /// `SpsMaxLatencyPictures`; nil for no limit.
    var latency: Int?

    init(_ buffering: H265.SequenceParameterSet.SubLayerBuffering) {
      capacity = max(1, Int(buffering.maximumDecodedPictures))
      reorder = Int(buffering.maximumReorderPictures)
      let increase = buffering.maximumLatencyIncreasePlus1
      latency = increase == 0 ? nil : reorder + Int(clamping: increase - 1)
    }
  }

  /// The number of pictures that wait for output.
  var waitingCount: Int { pictures.count { $0.awaitsOutput } }

  mutating func clear() {
    pictures = []
    lastOutput = nil
  }

  /// Applies a reference picture set (8.3.2): unmarks the pictures that are not in it.
  ///
  /// - Returns: the POCs of the pictures that the slice may use, those of them that are missing, and the number of
  ///   pictures in the set.
  mutating func apply(
    _ references: H265.ReferenceSyntax, order: Int32, log2Maximum: UInt8
  ) -> (used: [Int32], missing: [Int32], count: Int) {
    var (used, missing) = ([Int32](), [Int32]())
    var kept = [Bool](repeating: false, count: pictures.count)
    var named = 0
    func take(_ wanted: Int32, mask: Int32, isUsed: Bool) {
      named += 1
      if isUsed { used.append(wanted) }
      if let index = pictures.firstIndex(where: { $0.isReference && $0.order & mask == wanted & mask }) {
        kept[index] = true
        if isUsed { used[used.count - 1] = pictures[index].order }
      } else if isUsed {
        missing.append(wanted)
      }
    }
    for picture in references.shortTerm.before + references.shortTerm.after {
      take(order &+ picture.delta, mask: -1, isUsed: picture.isUsed)
    }
    let maximum = Int32(1) << Int32(min(log2Maximum, 16))
    for picture in references.longTerm {
      let lsb = Int32(truncatingIfNeeded: picture.pictureOrderCountLSB)
      if let cycles = picture.cyclesBefore {
        let full = order &- Int32(truncatingIfNeeded: cycles) &* maximum &- (order & (maximum - 1)) &+ lsb
        take(full, mask: -1, isUsed: picture.isUsed)
      } else {
        take(lsb, mask: maximum - 1, isUsed: picture.isUsed)
      }
    }
    for index in pictures.indices { pictures[index].isReference = kept[index] }
    return (used, missing, named)
  }

  /// Makes room for the current picture (C.5.2.2) and stores it (C.5.2.3).
  mutating func store(_ order: Int32, isOutput: Bool, _ limits: Limits) -> StorageTrouble {
    var trouble = StorageTrouble()
    removeUnused()
    while isDue(limits) || pictures.count >= limits.capacity {
      guard bump(&trouble) else {
        trouble.isFull = true
        if !pictures.isEmpty { pictures.removeFirst() }
        continue
      }
    }
    if isOutput {
      for index in pictures.indices where pictures[index].awaitsOutput && pictures[index].order > order {
        pictures[index].latency += 1
      }
    }
    pictures.append(Picture(order: order, awaitsOutput: isOutput))
    while isDue(limits), bump(&trouble) {}
    return trouble
  }

  private func isDue(_ limits: Limits) -> Bool {
    var waiting = 0
    for picture in pictures where picture.awaitsOutput {
      waiting += 1
      if let latency = limits.latency, picture.latency >= latency { return true }
    }
    return waiting > limits.reorder
  }

  /// Outputs the picture of the lowest POC. Returns whether there was one.
  private mutating func bump(_ trouble: inout StorageTrouble) -> Bool {
    var next: Int?
    for index in pictures.indices where pictures[index].awaitsOutput {
      if let place = next, pictures[place].order <= pictures[index].order { continue }
      next = index
    }
    guard let next else { return false }
    let order = pictures[next].order
    if let lastOutput, order < lastOutput { trouble.late = (order, lastOutput) }
    lastOutput = max(order, lastOutput ?? order)
    pictures[next].awaitsOutput = false
    removeUnused()
    return true
  }

  private mutating func removeUnused() { pictures.removeAll { !$0.isReference && !$0.awaitsOutput } }
}
