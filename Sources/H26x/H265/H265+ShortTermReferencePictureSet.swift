// SPDX-License-Identifier: MPL-2.0

extension H265 {
  /// `st_ref_pic_set()` (7.3.7): the short-term reference pictures of a picture and of later ones.
  public struct ShortTermReferencePictureSet: Sendable, Hashable {
    /// A picture, by its distance in POC.
    public struct Picture: Sendable, Hashable {
      /// `DeltaPocS0` or `DeltaPocS1`: its POC minus that of the current picture; never 0.
      public var delta: Int32
      /// `UsedByCurrPicS0` or `S1`: the current picture may refer to it; else only later ones.
      public var isUsed: Bool

      /// Creates one.
      public init(delta: Int32, isUsed: Bool) {
        self.delta = delta
        self.isUsed = isUsed
      }
    }

    /// How a set is derived from one before (7.4.8).
    public struct Prediction: Sendable, Hashable {
      /// `delta_idx_minus1` + 1: how many sets back, 1 except in slice headers.
      public var distance: UInt8
      /// `deltaRps`, −32,768 to 32,768, never 0.
      public var delta: Int32
      /// One entry for each picture of the other set, and one for that set's own picture.
      public var uses: [Use]
    }

    /// The use of a picture of the set that another set is predicted from.
    public enum Use: Sendable, Hashable {
      /// `used_by_curr_pic_flag`.
      case used
      /// `use_delta_flag` only: kept for later pictures.
      case kept
      /// Neither.
      case left
    }

    /// The pictures before the current one in output order, nearest first.
    public private(set) var before: [Picture]
    /// The pictures after the current one in output order, nearest first.
    public private(set) var after: [Picture]
    /// How it was predicted; nil if it was sent picture by picture.
    public private(set) var prediction: Prediction?

    /// `NumDeltaPocs`, 0 to 16.
    public var count: Int { before.count + after.count }

    /// How many pictures the current one may refer to.
    public var usedCount: Int { before.count { $0.isUsed } + after.count { $0.isUsed } }

    /// Most pictures in a set: those of the largest decoded picture buffer.
    public static let maximumCount = 16

    /// Creates a set to be sent picture by picture.
    public init(before: [Picture] = [], after: [Picture] = []) {
      self.before = before
      self.after = after
    }

    /// Reads a set.
    ///
    /// - Parameters:
    ///   - index: `stRpsIdx`.
    ///   - sets: those of the SPS so far; in a slice header all of them, with `index` their number.
    ///   - isInSlice: whether it is in a slice header.
    init(
      _ reader: inout BitReader, index: Int, sets: [ShortTermReferencePictureSet], isInSlice: Bool
    ) throws(BitstreamError) {
      if index > 0, try reader.flag("inter_ref_pic_set_prediction_flag") {
        try self.init(predicted: &reader, index: index, sets: sets, isInSlice: isInSlice)
        return
      }
      // The legal bound is sps_max_dec_pic_buffering_minus1, which encoders often get wrong.
      let limit = UInt8(Self.maximumCount)
      let beforeCount = try reader.ue8(in: 0...limit, "num_negative_pics")
      let afterCount = try reader.ue8(in: 0...(limit - beforeCount), "num_positive_pics")
      self.init()
      before.reserveCapacity(Int(beforeCount))
      var distance: Int32 = 0
      for _ in 0..<beforeCount {
        // At most 16 addends up to 2^15.
        distance += Int32(try reader.ue(in: 0...0x7FFF, "delta_poc_s0_minus1")) + 1
        before.append(Picture(delta: -distance, isUsed: try reader.flag("used_by_curr_pic_s0_flag")))
      }
      after.reserveCapacity(Int(afterCount))
      distance = 0
      for _ in 0..<afterCount {
        distance += Int32(try reader.ue(in: 0...0x7FFF, "delta_poc_s1_minus1")) + 1
        after.append(Picture(delta: distance, isUsed: try reader.flag("used_by_curr_pic_s1_flag")))
      }
    }

    private init(
      predicted reader: inout BitReader, index: Int, sets: [ShortTermReferencePictureSet], isInSlice: Bool
    ) throws(BitstreamError) {
      let start = reader.bitOffset
      let distance =
        isInSlice
        ? try reader.ue8(in: 0...UInt8(clamping: min(index, sets.count, 64) - 1), "delta_idx_minus1") + 1 : 1
      let place = index - Int(distance)
      guard sets.indices.contains(place) else {
        throw BitstreamError(.valueOutOfRange, "delta_idx_minus1", bitOffset: start)
      }
      let isNegative = try reader.flag("delta_rps_sign")
      let magnitude = Int32(try reader.ue(in: 0...0x7FFF, "abs_delta_rps_minus1")) + 1
      let other = sets[place]
      var prediction = Prediction(distance: distance, delta: isNegative ? -magnitude : magnitude, uses: [])
      prediction.uses.reserveCapacity(other.count + 1)
      for _ in 0...other.count {
        let isUsed = try reader.flag("used_by_curr_pic_flag")
        prediction.uses.append(isUsed ? .used : try reader.flag("use_delta_flag") ? .kept : .left)
      }
      self = Self.predicted(prediction, from: other)
      guard count <= Self.maximumCount else {
        throw BitstreamError(.valueOutOfRange, "use_delta_flag", bitOffset: start)
      }
    }

    /// The set that is derived from another (7-61 and 7-62).
    static func predicted(_ prediction: Prediction, from other: ShortTermReferencePictureSet) -> Self {
      // The other set's pictures, and after them its own picture.
      let pictures = other.before + other.after + [Picture(delta: 0, isUsed: true)]
      var kept: [Picture] = []
      kept.reserveCapacity(pictures.count)
      for (picture, use) in zip(pictures, prediction.uses) where use != .left {
        // Below 2^24: up to 2^19 of a set sent picture by picture, plus 2^15 for each of a chain of 64.
        let delta = picture.delta + prediction.delta
        if delta != 0 { kept.append(Picture(delta: delta, isUsed: use == .used)) }
      }
      var set = ShortTermReferencePictureSet()
      set.before = kept.filter { $0.delta < 0 }.sorted { $0.delta > $1.delta }
      set.after = kept.filter { $0.delta > 0 }.sorted { $0.delta < $1.delta }
      set.prediction = prediction
      return set
    }

    func write(to writer: inout BitWriter, index: Int, isInSlice: Bool) {
      if index > 0 { writer.flag(prediction != nil) }
      if index > 0, let prediction {
        if isInSlice { writer.ue(UInt32(max(1, prediction.distance)) - 1) }
        writer.flag(prediction.delta < 0)
        writer.ue(max(1, prediction.delta.magnitude) - 1)
        for use in prediction.uses {
          writer.flag(use == .used)
          if use != .used { writer.flag(use == .kept) }
        }
        return
      }
      writer.ue(UInt32(clamping: before.count))
      writer.ue(UInt32(clamping: after.count))
      for pictures in [before, after] {
        var last: UInt32 = 0
        for picture in pictures {
          let distance = max(picture.delta.magnitude, last + 1)
          writer.ue(distance - last - 1)
          writer.flag(picture.isUsed)
          last = distance
        }
      }
    }
  }
}
