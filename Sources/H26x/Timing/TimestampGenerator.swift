// SPDX-License-Identifier: MPL-2.0

/// Derives presentation and decoding times for the pictures of a raw stream, which has no timestamps.
///
/// Times are integers in units of a frame's duration divided by ``ticksPerFrame``; the caller has the frame rate.
///
/// - Decoding is regular: frame n is decoded at n, the second field of a frame half a duration after the first. So
///   durations add up to the stream's, on which containers that store decoding times rely.
/// - Presentation follows POC. The first picture is shown at r, the reorder depth in frames. Each frame is shown one
///   duration after the frame before, the second field of a frame half a duration after the first. A picture that
///   resets POC (IDR, MMCO 5) begins a sequence at the end of the last frame before it. A gap in POC is a gap in
///   time, of decoding too, as soon as a few pictures behind it show that nothing will fill it. Otherwise a container
///   that adds up durations in decoding order would end before the last pictures are shown.
/// - A POC below all that the look ahead has found in its sequence comes too late for its place. Its picture begins
///   when the last frame ends, and later pictures follow it by their POCs.
/// - Decoding times never decrease, and are never later than presentation.
///
/// A look ahead at the first pictures finds the POC step between frames, the first POC, and the reorder depth if the
/// stream signals none or less. It needs at least one frame, and 2r + 2 frames suffice. If the stream reorders more
/// deeply than it announced, decoding times stand still for a while. If that does not help, because a picture should
/// have been shown already, its presentation time moves to the decoding time.
public struct TimestampGenerator: Sendable {
  /// Units in the duration of a frame: divisible by 1 to 17, for steps of POC.
  public static let ticksPerFrame: Int64 = 24_504_480

  /// No sequence begins later than this, some 10^11 frames after the first: only absurd POCs in every sequence come so
  /// far, and the sum must not overflow.
  private static let latestStart = Int64.max / 4

  /// A coded picture, as the generator needs it, in decoding order.
  public struct Picture: Sendable, Hashable {
    /// `PicOrderCnt` of the frame or field.
    public var order: Int32
    /// Whether the picture resets POC.
    public var resetsPOC: Bool
    /// Whether the picture is a single field.
    public var isField: Bool
    /// Whether it is the second field of the frame that the picture before began.
    public var isSecondField: Bool
    /// Whether the picture resets POC and pictures decoded after it may be shown before it, because their POCs are
    /// smaller. These are leading pictures of H.265, and pictures with negative POCs of H.264.
    package var mayHaveLeadingPictures = false
    /// Field periods for which a frame is shown (`pic_struct`): two, unless fields or the frame are repeated.
    package var fieldPeriods = 2

    /// Creates one.
    public init(order: Int32, resetsPOC: Bool, isField: Bool = false, isSecondField: Bool = false) {
      self.order = order
      self.resetsPOC = resetsPOC
      self.isField = isField
      self.isSecondField = isSecondField
    }
  }

  /// The times of a picture.
  public struct Timestamps: Sendable, Hashable {
    /// Presentation time.
    public var presentation: Int64
    /// Decoding time.
    public var decoding: Int64
    /// A frame's duration, longer if its fields or the frame are repeated; half of it for a field.
    public var duration: Int64
  }

  private let followsDecodingOrder: Bool
  private var step: Int64
  private var isStepGuessed: Bool
  private let reorderDepth: Int64
  /// Frames by which the current sequence reorders deeper than that.
  private var excessDepth: Int64 = 0
  /// The smallest POCs of the sequences in the look ahead, the last one first.
  private var firstOrders: [Int64]

  private var isFirst = true
  /// A second field has reset POC: the next frame begins a sequence.
  private var hasReset = false
  private var startOrder: Int64
  private var startTime: Int64 = 0
  private var endTime: Int64 = 0
  /// Index of the current frame in decoding order.
  private var frame: Int64 = -1
  /// The latest presentation times of the current sequence, in frames, ascending: as many as may still be reordered,
  /// and one.
  private var latest: [Int64] = []
  private var firstField: (order: Int64, presentation: Int64) = (0, 0)
  private var lastDecoding: Int64 = 0
  private var cadence = DisplayCadence()
  private var lastFrameOrder: Int64?
  private var orderDivisor: Int64 = 0

  /// Creates a generator for a stream.
  ///
  /// - Parameters:
  ///   - lookAhead: the first pictures in decoding order, which are then passed to ``next(_:)`` too.
  ///   - reorderDepth: in frames, as the stream sends it (`max_num_reorder_frames`); nil to take it from `lookAhead`.
  ///   - maximumReorderDepth: in frames, for a look ahead that is too short.
  ///   - followsDecodingOrder: whether output order is decoding order (`pic_order_cnt_type` 2). POC is then ignored,
  ///     unless `lookAhead` shows otherwise, and each frame is shown right after the frame before.
  ///   - usualStep: by how much POC usually grows from a frame to the next one shown, above 0, for a look ahead that is
  ///     too short.
  public init(
    lookAhead: [Picture], reorderDepth: Int?, maximumReorderDepth: Int = FormatDescription.deepestReordering,
    followsDecodingOrder: Bool = false, usualStep: Int = 2
  ) {
    let start = Start(lookAhead)
    self.followsDecodingOrder = followsDecodingOrder && start.depth == 0
    isStepGuessed = start.divisor == 0
    step = isStepGuessed ? Int64(max(usualStep, 1)) : start.divisor
    firstOrders = start.firstOrders.reversed()
    startOrder = firstOrders.popLast() ?? 0
    let found = start.frames > 1 ? start.depth : maximumReorderDepth
    let wanted = self.followsDecodingOrder ? 0 : max(reorderDepth ?? found, start.depth)
    self.reorderDepth = Int64(max(0, min(wanted, FormatDescription.deepestReordering)))
    // As long as that many frames last, the longer frames first.
    let extra = Int64(max(lookAhead.first?.fieldPeriods ?? 2, 2) - 2)
    let repeats = extra == 1 ? (self.reorderDepth + 1) / 2 : self.reorderDepth * extra
    presentationDelay = self.reorderDepth * Self.ticksPerFrame + repeats * (Self.ticksPerFrame / 2)
  }

  /// The time of the first picture: as long as the reorder depth lasts.
  public let presentationDelay: Int64

  /// The next picture resets POC, and of the pictures up to the one that is shown after it this is the smallest POC.
  package mutating func expectSequence(from order: Int32) {
    // The look ahead at the start may have ended with this picture, without its leading pictures.
    let known = firstOrders.popLast() ?? .max
    firstOrders.append(min(known, Int64(order)))
  }

  /// The times of the next picture in decoding order.
  public mutating func next(_ picture: Picture) -> Timestamps {
    let half = Self.ticksPerFrame / 2
    let isSecond = picture.isSecondField && frame >= 0
    if !isSecond { beginFrame(picture) }
    var presentation = presentationTime(picture, isSecond: isSecond)
    if !isSecond {
      firstField = (Int64(picture.order), presentation)
      followGaps(to: presentation / Self.ticksPerFrame)
    } else if picture.resetsPOC {
      hasReset = true
    }
    // The two fields of a frame take the place of one.
    endTime = min(max(endTime, frameStart(presentation) + Self.ticksPerFrame), Self.latestStart)
    let place = presentation / Self.ticksPerFrame
    if !isSecond {
      excessDepth = max(excessDepth, min(frame - place - reorderDepth, 32))
      cadence.show(at: place, for: picture.isField ? 2 : picture.fieldPeriods)
    }
    let decodingPlace = max(0, frame - excessDepth)
    presentation += presentationDelay
    var decoding = decodingPlace * Self.ticksPerFrame + (isSecond ? half : 0)
    if !cadence.isRegular {
      presentation += cadence.extra(before: place) * half
      decoding += cadence.extra(before: decodingPlace) * half
    }
    lastDecoding = max(lastDecoding, min(decoding, presentation))
    presentation = max(presentation, lastDecoding)
    let duration = picture.isField ? half : Int64(max(picture.fieldPeriods, 2)) * half
    return Timestamps(presentation: presentation, decoding: lastDecoding, duration: duration)
  }

  private mutating func beginFrame(_ picture: Picture) {
    if picture.resetsPOC || hasReset || isFirst {
      hasReset = false
      latest = []
      if isStepGuessed, orderDivisor > 0 {
        step = orderDivisor
        isStepGuessed = false
      }
      if !isFirst {
        startTime = endTime
        // Smaller POCs than the first picture's are shown before it, as far as the look ahead has found them.
        startOrder = min(firstOrders.popLast() ?? .max, Int64(picture.order))
        // All frames before are shown before: both orders are at the same place here.
        frame = startTime / Self.ticksPerFrame - 1
        excessDepth = 0
      }
      isFirst = false
      lastFrameOrder = nil
    }
    frame += 1
    let order = Int64(picture.order)
    if let lastFrameOrder { orderDivisor = greatestCommonDivisor(orderDivisor, abs(order - lastFrameOrder)) }
    lastFrameOrder = order
    if order < startOrder {
      // The picture belongs before others that were already output, which was not foreseeable.
      (startOrder, startTime) = (order, endTime)
    }
  }

  /// Moves decoding behind a gap in presentation.
  private mutating func followGaps(to place: Int64) {
    // Four more than are reordered, for streams that reorder deeper than they have shown so far.
    let depth = Int(reorderDepth) + 4
    latest.insert(place, at: latest.firstIndex { $0 > place } ?? latest.endIndex)
    guard latest.count > depth else { return }
    // Without a gap, as many frames are shown before this one as were decoded before the last `depth`.
    let settled = latest.removeFirst()
    frame = max(frame, settled + Int64(depth))
  }

  private func presentationTime(_ picture: Picture, isSecond: Bool) -> Int64 {
    let half = Self.ticksPerFrame / 2
    let order = Int64(picture.order)
    if followsDecodingOrder { return isSecond ? firstField.presentation + half : frame * Self.ticksPerFrame }
    if isSecond, step != 2 || order == firstField.order || picture.resetsPOC {
      return max(0, firstField.presentation + (order < firstField.order && !picture.resetsPOC ? -half : half))
    }
    // Differences of two 32-bit POCs are below 2^33, and times within a sequence below 2^58.
    return max(startTime, startTime + (order - startOrder) * Self.ticksPerFrame / step)
  }

  private func frameStart(_ time: Int64) -> Int64 { time - time % Self.ticksPerFrame }
}

extension TimestampGenerator {
  /// The findings from the first pictures.
  private struct Start {
    /// The smallest POC of each sequence.
    var firstOrders: [Int64] = []
    /// The greatest common divisor of the frames' POC differences; 0 with fewer than two frames.
    var divisor: Int64 = 0
    /// How many frames at most are decoded before a frame and shown after it.
    var depth = 0
    var frames = 0

    init(_ pictures: [Picture]) {
      // A frame's POC is the smaller of its fields'.
      var sequences: [[Int64]] = [[]]
      for (index, picture) in pictures.enumerated() {
        let order = Int64(picture.order)
        let last = sequences.count - 1
        if picture.isSecondField, picture.resetsPOC, !sequences[last].isEmpty {
          sequences.append([])
        } else if picture.isSecondField, let before = sequences[last].popLast() {
          sequences[last].append(min(before, order))
        } else if picture.resetsPOC, index > 0 {
          sequences.append([order])
        } else {
          sequences[last].append(order)
        }
      }
      if let last = pictures.last, last.isField, !last.isSecondField, pictures.count > 1 {
        // Its other field, which may come first, was not seen.
        _ = sequences[sequences.count - 1].popLast()
      }
      for orders in sequences {
        frames += orders.count
        for (index, order) in orders.enumerated() {
          if index > 0 { divisor = greatestCommonDivisor(divisor, abs(order - orders[index - 1])) }
          depth = max(depth, orders[..<index].count { $0 > order })
        }
      }
      firstOrders = sequences.compactMap { $0.min() }
      if sequences[0].isEmpty, let only = pictures.first { firstOrders.insert(Int64(only.order), at: 0) }
    }
  }
}
