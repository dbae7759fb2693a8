// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

/// Reads the only message of a NAL unit made of one payload.
func again<Value>(
  _ type: SEIPayloadType, _ payload: [UInt8], _ body: (borrowing SEIMessages.Message) throws -> Value
) -> Value? {
  let nalUnit = seiNALUnit([(type, payload)])
  var messages = SEIMessages(nalUnit.span)
  guard let message = try? messages.next() else { return nil }
  require(message.type == type && message.size == payload.count, "SEI: type or size not the same after writing")
  return try? body(message)
}

func read(_ message: borrowing SEIMessages.Message, _ sets: H264.ParameterSets) {
  guard let payload = try? message.payload() else { fatalError("SEI: a payload that is not there") }
  require(payload.count == message.size, "SEI: payload of another size")
  require(again(message.type, payload) { try $0.payload() } == payload, "SEI: payload not the same after writing")

  if let point = try? H264.RecoveryPoint(message) {
    require(again(.recoveryPoint, point.payload()) { try H264.RecoveryPoint($0) } == point, "SEI: recovery point")
  }
  if let sps = sets.sequenceParameterSet(0), let timing = try? H264.PictureTiming(message, sps: sps), sps.vui != nil {
    let written = timing.payload(sps: sps)
    if !written.isEmpty {
      require(
        again(.pictureTiming, written) { try H264.PictureTiming($0, sps: sps) } == timing, "SEI: picture timing")
    }
  }
  if let data = try? UnregisteredUserData(message) {
    require(data.uuid + data.data == payload, "SEI: user data")
  }
  _ = try? RegisteredUserData(message).content()
  _ = try? H264.BufferingPeriod(message, parameterSets: sets)
  _ = try? FramePackingArrangement(message)
  _ = try? DisplayOrientation(message)
  _ = try? MasteringDisplayColourVolume(message)
  _ = try? ContentLightLevel(message)
  _ = try? AlternativeTransferCharacteristics(message)
}

// A byte stream's parameter sets, and every NAL unit read as SEI, each message as every type.
fuzz { bytes in
  var sets = H264.ParameterSets()
  var units = AnnexB.NALUnits(bytes)
  while let unit = units.next() {
    let nalUnit = bytes.extracting(unit.range)
    if (try? sets.insert(nalUnit)) != nil { continue }
    var messages = SEIMessages(nalUnit)
    var count = 0
    while let message = try? messages.next() {
      count += 1
      require(2 * count <= nalUnit.count, "SEI: more messages than bytes for them")
      read(message, sets)
    }
  }
}
