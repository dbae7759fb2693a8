// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

/// A picture per record of three bytes: its kind, and its count or the difference from the previous count.
func pictures(_ data: Span<UInt8>) -> [TimestampGenerator.Picture] {
  var pictures: [TimestampGenerator.Picture] = []
  var order: Int32 = 0
  for start in stride(from: 0, to: data.count - 2, by: 3) {
    let kind = data[start]
    let number = Int32(Int16(truncatingIfNeeded: Int(data[start + 1]) << 8 | Int(data[start + 2])))
    // Small steps mostly, and now and then any of 32 bits.
    order = kind & 8 == 0 ? order &+ number >> 8 : number << 16 | 0xFFFF
    pictures.append(
      TimestampGenerator.Picture(
        order: order, resetsPOC: kind & 1 != 0, isField: kind & 2 != 0, isSecondField: kind & 4 != 0))
  }
  return pictures
}

// Generated times are never negative, decoding times never decrease, and nothing is decoded after it is shown.
fuzz { input in
  var choices = Choices(input)
  let pictures = pictures(choices.data)
  var generator = TimestampGenerator(
    lookAhead: Array(pictures.prefix(choices.below(40))), reorderDepth: choices.flag() ? nil : choices.below(256),
    maximumReorderDepth: choices.below(256), followsDecodingOrder: choices.flag())
  var rebuilder = DecodingTimeRebuilder(
    reorderDepth: choices.below(256), frameDuration: Int64(choices.byte()) << (choices.flag() ? 55 : 20))
  var decoding: Int64 = 0
  for picture in pictures {
    let times = generator.next(picture)
    require(times.decoding >= decoding, "timestamps: decoding times decrease")
    require(times.presentation >= times.decoding, "timestamps: shown before it is decoded")
    decoding = times.decoding
    for time in [times.presentation, Int64(picture.order), Int64(picture.order) << 31] {
      let rebuilt = rebuilder.next(presentation: time)
      require(rebuilt <= max(0, time), "timestamps: rebuilt decoding time is after presentation")
    }
  }
}
