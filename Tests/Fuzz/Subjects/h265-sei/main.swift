// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

/// Reads the only message of a NAL unit made of one payload.
func again<Value>(
  _ type: SEIPayloadType, _ payload: [UInt8], _ body: (borrowing SEIMessages.Message) throws -> Value
) -> Value? {
  let nalUnit = seiNALUnit([(type, payload)], header: [0x4E, 0x01])
  var messages = SEIMessages(nalUnit.span, headerLength: 2)
  guard let message = try? messages.next() else { return nil }
  require(message.type == type && message.size == payload.count, "SEI: type or size not the same after writing")
  return try? body(message)
}

func read(_ message: borrowing SEIMessages.Message, _ sets: H265.ParameterSets) {
  if let point = try? H265.RecoveryPoint(message) {
    require(again(.recoveryPoint, point.payload()) { try H265.RecoveryPoint($0) } == point, "SEI: recovery point")
  }
  if let code = try? H265.TimeCode(message) {
    require(again(.timeCode, code.payload()) { try H265.TimeCode($0) } == code, "SEI: time code")
  }
  if let active = try? H265.ActiveParameterSets(message) {
    require(
      again(.activeParameterSets, active.payload()) { try H265.ActiveParameterSets($0) } == active,
      "SEI: active parameter sets")
  }
  if let hash = try? H265.DecodedPictureHash(message) {
    require(again(.decodedPictureHash, hash.payload()) { try H265.DecodedPictureHash($0) } == hash, "SEI: hash")
  }
  if let sps = sets.sequenceParameterSet(0), let timing = try? H265.PictureTiming(message, sps: sps) {
    let written = timing.payload(sps: sps)
    if !written.isEmpty {
      require(
        again(.pictureTiming, written) { try H265.PictureTiming($0, sps: sps) } == timing, "SEI: picture timing")
    }
  }
  _ = try? H265.BufferingPeriod(message, parameterSets: sets)
  _ = try? FramePackingArrangement(message, codec: .h265)
  _ = try? DisplayOrientation(message, codec: .h265)
}

// A byte stream's parameter sets, and every NAL unit read as SEI, each message as every type.
fuzz { bytes in
  var sets = H265.ParameterSets()
  var units = AnnexB.NALUnits(bytes)
  while let unit = units.next() {
    let nalUnit = bytes.extracting(unit.range)
    if (try? sets.insert(nalUnit)) != nil { continue }
    var messages = SEIMessages(nalUnit, headerLength: 2)
    while let message = try? messages.next() { read(message, sets) }
  }
}
