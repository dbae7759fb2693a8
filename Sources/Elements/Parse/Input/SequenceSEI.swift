// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The content of SEI messages about the video starting at one IDR picture, for caps.
struct SequenceSEI: Sendable, Equatable {
  /// A value that lasts from its message to the next IDR picture that comes without one (D.2.29).
  struct Lasting<Value: Sendable & Equatable>: Sendable, Equatable {
    private(set) var value: Value?
    /// The message came since the last IDR picture.
    private var isFresh = false

    mutating func set(_ value: Value) {
      self.value = value
      isFresh = true
    }

    /// An IDR picture begins.
    mutating func pass() {
      if !isFresh { value = nil }
      isFresh = false
    }

    static func == (left: Self, right: Self) -> Bool { left.value == right.value }
  }

  var masteringDisplay = Lasting<MasteringDisplayColourVolume>()
  var contentLight = Lasting<ContentLightLevel>()
  var alternativeTransfer = Lasting<AlternativeTransferCharacteristics>()
  /// Pictures have HDR10+ metadata.
  var dynamicMetadata = Lasting<Bool>()
  var multiviewMode = MultiviewMode.none
  var multiviewFlags = MultiviewFlags()

  /// An IDR picture begins.
  mutating func beginSequence() {
    masteringDisplay.pass()
    contentLight.pass()
    alternativeTransfer.pass()
    dynamicMetadata.pass()
  }

  /// Takes a frame packing arrangement (H.264 D.2.26): two views in a picture.
  mutating func take(_ packing: FramePackingArrangement) {
    // Other identifiers are reserved.
    guard !(256..<512).contains(packing.id), packing.id < 1 << 31 else { return }
    multiviewMode = .none
    multiviewFlags = []
    guard !packing.isCancelled else { return }
    if packing.contentInterpretation == 2 { multiviewFlags.insert(.rightViewFirst) }
    // Frame 0 is the left view unless the right one comes first.
    let isLeftFlipped = packing.isFrame0Flipped != multiviewFlags.contains(.rightViewFirst)
    switch packing.type {
    case 0: multiviewMode = .checkerboard
    case 1: multiviewMode = .columnInterleaved
    case 2: multiviewMode = .rowInterleaved
    case 3:
      multiviewMode = packing.usesQuincunxSampling ? .sideBySideQuincunx : .sideBySide
      if packing.isSpatiallyFlipped { multiviewFlags.insert(isLeftFlipped ? .leftFlopped : .rightFlopped) }
    case 4:
      multiviewMode = .topBottom
      if packing.isSpatiallyFlipped { multiviewFlags.insert(isLeftFlipped ? .leftFlipped : .rightFlipped) }
    case 5: multiviewMode = packing.contentInterpretation == 0 ? .multiviewFrameByFrame : .frameByFrame
    default: break
    }
  }

  /// Takes stereo video information (H.264 D.2.23): two views that alternate.
  ///
  /// - Returns: whether this is the first view of two.
  mutating func take(_ stereo: StereoVideoInformation) -> Bool {
    multiviewFlags = []
    switch stereo.arrangement {
    case .fields(let isTopLeft):
      multiviewMode = .rowInterleaved
      if !isTopLeft { multiviewFlags = .rightViewFirst }
      return false
    case .frames(let isLeft, let nextIsSecondView):
      multiviewMode = .frameByFrame
      // The first view of a pair signals the order; that holds for the second view.
      if nextIsSecondView ? !isLeft : isLeft { multiviewFlags = .rightViewFirst }
      return nextIsSecondView
    }
  }
}
