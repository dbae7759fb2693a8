// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The content of one access unit's SEI messages about its picture.
struct SEIContent: Sendable {
  /// The display of the picture.
  var display = PictureDisplay()
  /// The SEI NAL unit that time codes are in; nil when there is none.
  var timeCodeRange: Range<Int>?
  var hasBufferingPeriod = false
  var captions: [Captions] = []
  var userData: [UnregisteredUserData] = []
  var bars: RegisteredUserData.BarData?
  var activeFormat: UInt8?
  /// The first of the two views that make up one stereo frame.
  var isFirstView = false

  /// Whether there is anything to attach to a buffer.
  @inline(__always) var concernsBuffer: Bool {
    !captions.isEmpty || !userData.isEmpty || activeFormat != nil || bars != nil || !display.timeCodes.isEmpty
  }

  /// Messages kept of one access unit at most: a hostile stream can have millions.
  static let limit = 256

  /// Takes captions, bar data and active format from registered user data.
  mutating func take(_ data: RegisteredUserData) {
    switch data.content() {
    case .closedCaptions(let bytes): add(Captions(format: .cea708Raw, bytes: bytes))
    case .captionPacket(let bytes): add(Captions(format: .cea708Packet, bytes: bytes))
    case .barData(let bars): self.bars = bars
    case .activeFormat(let code):
      // Reserved codes have no meaning.
      if let code, [1, 5, 6, 7, 12].contains(code) { return }
      activeFormat = code
    case nil: break
    }
  }

  mutating func take(_ data: UnregisteredUserData) {
    if userData.count < Self.limit { userData.append(data) }
  }

  /// Closed captions (CEA-708).
  struct Captions: Sendable {
    var format: Buffer.CaptionFormat
    var bytes: [UInt8]
  }

  private mutating func add(_ captions: Captions) {
    if self.captions.count < Self.limit { self.captions.append(captions) }
  }
}
