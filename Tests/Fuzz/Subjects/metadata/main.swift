// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

/// Captions in user data of a country.
func readCaptions(_ data: [UInt8], _ services: inout CaptionServices) {
  let userData = RegisteredUserData(countryCode: 0xB5, data: data)
  guard let message = try? CaptionMessage(userData) else { return }
  require((try? message.userData()) == userData, "captions: not the same after writing")
  services.add(message)
  require(services.services.count <= 72, "captions: more services than there are")
  for service in services.services { _ = services.language(of: service) }
}

/// A metadata NAL unit with a payload that is cut and damaged at will.
func readRPU(_ payload: [UInt8], _ codec: FormatDescription.Codec) {
  // Emulation prevention bytes as a writer adds them, so that bytes can be compared.
  var writer = BitWriter()
  writer.append(codec == .h264 ? [0x7C, 25] : [0x7C, 0x01, 25])
  writer.append(payload + [0x80])
  let nalUnit = writer.bytes
  let trace = SyntaxTrace()
  guard let rpu = try? DolbyVision.RPU(nalUnit: nalUnit.span, codec: codec, trace: trace) else { return }
  require((try? rpu.nalUnit()) == nalUnit, "RPU: not the same after writing")
  for block in rpu.displayManagement?.allBlocks ?? [] {
    guard let content = block.content else { continue }
    var copy = block
    require(copy.replace(with: content) && copy == block, "RPU: block not the same after writing")
  }
  _ = rpu.profile(codec)
  // With a right CRC.
  var changed = DolbyVision.RPU(
    header: rpu.header, mapping: rpu.mapping, displayManagement: rpu.displayManagement)
  guard (try? changed.convertToProfile8()) != nil, let converted = try? changed.nalUnit() else { return }
  guard let read = try? DolbyVision.RPU(nalUnit: converted.span) else { fatalError("RPU: converted, but unreadable") }
  require(read.hasValidCRC && read.profile(.h265) == 8, "RPU: not of profile 8 after conversion")
}

// The first byte chooses the structure.
fuzz { bytes in
  guard bytes.count > 0 else { return }
  let data = (1..<bytes.count).map { bytes[$0] }
  switch bytes[0] & 7 {
  case 0:
    guard let record = try? DolbyVision.Configuration(data.span) else { return }
    require(record.bytes == data, "record: not the same after writing")
  case 1:
    var services = CaptionServices()
    // Messages of 40 bytes, as of several pictures.
    for start in stride(from: 0, to: data.count, by: 40) {
      readCaptions(CaptionMessage.standardPrefix + data[start...].prefix(40), &services)
    }
  case 2:
    var services = CaptionServices()
    readCaptions(data, &services)
    guard let packet = try? CaptionDistributionPacket(data.span) else { return }
    require((try? packet.bytes()) == Array(data.prefix(packet.byteCount)), "CDP: not the same after writing")
    // With a right checksum.
    let whole = CaptionDistributionPacket(
      frameRateCode: packet.frameRateCode, flags: packet.flags, sequenceCounter: packet.sequenceCounter,
      sections: packet.sections)
    if let bytes = try? whole.bytes() { readCaptions([0x00, 0x31] + bytes, &services) }
  case 3:
    guard let packet = try? CaptionPacket(data.span), let written = try? packet.bytes() else { return }
    require(written == Array(data.prefix(written.count)), "DTVCC: not the same after writing")
  case 4:
    let userData = RegisteredUserData(countryCode: 0xB5, data: [0x00, 0x3C, 0x00, 0x01, 0x04] + data)
    guard let metadata = try? HDR10PlusMetadata(userData) else { return }
    require((try? metadata.userData()) == userData, "HDR10+: not the same after writing")
  case 5: readRPU(data, .h264)
  default: readRPU(data, .h265)
  }
}
