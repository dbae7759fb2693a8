// SPDX-License-Identifier: MPL-2.0
import Foundation
import FuzzDriver
import H26x

// make-seeds FOLDER FILE…: makes FOLDER/<subject>/ for every subject out of H.264 byte streams, and of H.265 ones,
// whose names end in .h265 or .hevc.
//
// Seeds are small: parameter sets, the first 64 bytes of slices, short slices, SEI, the first pictures. A seed's name
// is its content's hash, so that making them twice changes nothing.

let arguments = CommandLine.arguments
guard arguments.count > 2 else {
  print("usage: make-seeds FOLDER FILE…")
  exit(2)
}
let folder = URL(fileURLWithPath: arguments[1])

/// FNV-1a.
func hash(_ bytes: [UInt8]) -> String {
  var value: UInt64 = 0xcbf2_9ce4_8422_2325
  for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
  return String(value, radix: 16)
}

func save(_ bytes: [UInt8], _ subjects: String...) throws {
  for subject in subjects {
    let place = folder.appendingPathComponent(subject)
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    try Data(bytes).write(to: place.appendingPathComponent(hash(bytes)))
  }
}

let startCode: [UInt8] = [0, 0, 0, 1]
let choices = [UInt8](repeating: 0, count: Choices.length)

/// Seeds of captions, HDR10+ and Dolby Vision; the first byte is the subject's choice of a structure.
func saveMetadata() throws {
  let triplets = [CaptionTriplet(.field1, 0x94, 0x20), CaptionTriplet(.field2, 0x15, 0x2C)]
  let packet = CaptionPacket(sequenceNumber: 0, serviceBlocks: [.init(number: 9, data: [0x98, 0, 0x41])])
  let pairs = try packet.bytes()
  let digital = stride(from: 0, to: pairs.count, by: 2).map { index in
    CaptionTriplet(index == 0 ? .packetStart : .packetData, pairs[index], pairs[index + 1])
  }
  let service = CaptionDistributionPacket.Service(
    number: 0x81, languageCode: Array("eng".utf8), type: 0xC1, properties: 0x3FFF)
  let distribution = CaptionDistributionPacket(
    frameRateCode: 4, flags: [.captions, .services, .timeCode, .reserved], sequenceCounter: 1,
    sections: [
      .timeCode(.init(rawValue: 0xD2B4_D6A1)), .captions(markerBits: 7, triplets + digital),
      .services(.init(flags: 0xF, services: [service])), .future(id: 0x75, [1]),
    ])
  var metadata = HDR10PlusMetadata(
    targetedMaximumLuminance: 400, targetedPeakLuminance: .init(rows: 2, columns: 2, values: [1, 2, 3, 4]))
  metadata.windows[0].distribution = [.init(percentage: 50, luminance: 1000)]
  metadata.windows[0].toneMapping = .init(kneePointX: 1, kneePointY: 2, anchors: [3, 4])
  metadata.windows[0].colourSaturationWeight = 8
  var header = DolbyVision.Header(profile: 1, sequence: .init())
  header.sequence?.layers?.isEnhancementLayerScaled = true
  header.sequence?.layers?.isResidualDisabled = false
  let one = DolbyVision.Coefficient(integer: 1, fraction: 5)
  let curves: [DolbyVision.Mapping.Curve] = [
    .init(pivots: [0, 512, 511], pieces: [.polynomial([one, one, one]), .interpolation([one, one])]),
    .init(pivots: [0, 1023], pieces: [.polynomial([one, one])]),
    .init(
      pivots: [0, 1023],
      pieces: [.regression(constant: one, coefficients: [[_]](repeating: [_](repeating: one, count: 7), count: 3))]),
  ]
  let component = DolbyVision.Mapping.Residual.Component(offset: 1, maximum: one, slope: one, threshold: one)
  let mapping = DolbyVision.Mapping(
    curves: curves, residual: .init(pivots: [0, 1023], components: [component, component, component]))
  var management = DolbyVision.DisplayManagement(source: .init(minimumPQ: 62, maximumPQ: 3696))
  management.blocks = [.init(.level1(minimum: 0, maximum: 2081, average: 819))]
  management.newerBlocks = [.init(.level254(mode: 0, version: 2)), .init(.level8(.init(displayIndex: 48)))]
  let rpu = DolbyVision.RPU(header: header, mapping: mapping, displayManagement: management)
  let seeds: [(UInt8, [UInt8])] = [
    (0, DolbyVision.Configuration(profile: 8, level: 6, compatibilityID: 1).bytes),
    (1, Array(try CaptionMessage(CaptionData(triplets + digital)).userData().data.dropFirst(7))),
    (2, try distribution.bytes()), (3, pairs), (4, Array(try metadata.userData().data.dropFirst(5))),
    (5, Array(try rpu.nalUnit().dropFirst(3).dropLast())), (6, Array(try rpu.nalUnit().dropFirst(3).dropLast())),
  ]
  for (choice, bytes) in seeds { try save([choice] + bytes, "metadata") }
  try saveMetadataFiles(try rpu.nalUnit())
}

/// Seeds of files with metadata; the first byte is the subject's choice of a format.
func saveMetadataFiles(_ rpu: [UInt8]) throws {
  let curve = "\"BezierCurveData\":{\"Anchors\":[143,298],\"KneePointX\":164,\"KneePointY\":240}"
  let luminance =
    "\"LuminanceParameters\":{\"AverageRGB\":263,\"LuminanceDistributions\":{\"DistributionIndex\":[1,99],"
    + "\"DistributionValues\":[0,5843]},\"MaxScl\":[7768,6589,6912]}"
  let picture =
    "{\(curve),\(luminance),\"NumberOfWindows\":1,\"TargetedSystemDisplayMaximumLuminance\":400,"
    + "\"SequenceFrameIndex\":0}"
  let document =
    "{\"JSONInfo\":{\"HDR10plusProfile\":\"B\",\"Version\":\"1.0\"},\"SceneInfo\":[\(picture)],\"ToolInfo\":null}"
  let window =
    "{\"maxscl\":[1,2,3],\"average-maxrgb\":4,\"distribution-maxrgb-percentages\":[1],"
    + "\"distribution-maxrgb-percentiles\":[2],\"fraction-bright-pixels\":3,\"knee-point\":[1,2],"
    + "\"bezier-curve-anchors\":[4],\"color-saturation-weight\":5,\"window-upper-left-corner\":[1,2],"
    + "\"window-lower-right-corner\":[3,4],\"center-of-ellipse\":[2,3],\"rotation-angle\":5,"
    + "\"semimajor-axis-internal-ellipse\":6,\"semimajor-axis-external-ellipse\":7,"
    + "\"semiminor-axis-external-ellipse\":8,\"overlap-process-option\":1}"
  let line =
    "{\"picture\":0,\"application-version\":1,\"windows\":[\(window),\(window)],"
    + "\"targeted-system-display-maximum-luminance\":400,\"mastering-display-actual-peak-luminance\":"
    + "{\"rows\":1,\"columns\":2,\"values\":[3,4]},\"trailing-bits\":\"0101\"}\n"
  try save([0] + Array(document.utf8), "metadata-files")
  try save([1] + Array(line.utf8), "metadata-files")
  var rpus: [UInt8] = [2] + startCode
  rpus += rpu.dropFirst(2)
  rpus += startCode + rpu
  try save(rpus, "metadata-files")
}
try saveMetadata()

/// Seeds of caption files.
func saveCaptionFiles() throws {
  let captions = "T52S524F67Z0172F4FC9420ROO73D1E0656E67C13FFF74Z017FB4"
  let head = "File Format=MacCaption_MCC V2.0\n\n// A\n\nTime Code Rate=30DF\n"
  let form = "// User Data=B500314741393403C0FFFF\n"
  for text in [
    head + form + "00:00:00:00\t\(captions)\n00:00:01;01\t\(captions)\n",
    head + "00:00:00:00.1,9\tT16S164F43Z0572E1FC94207504U74Z057E78\n",
    head + "00:00:00:00\t6102038C9420A6\n00:00:00:01\tT0FS0F4F43Z0572E1FC942074Z0592\n",
    "Scenarist_SCC V1.0\n\n00:00:01;02\t9420 9420 94ae 94ae c1c2\n\n00:01:00;02\t942f 942f\n",
  ] { try save(Array(text.utf8), "caption-files") }
}
try saveCaptionFiles()

/// A seed of two program maps: with descriptors of a codec, and with more of them than a packet has room for.
func saveProgramMaps() throws {
  let codec: [UInt8] = [5, 4] + Array("HEVC".utf8)
  let long = codec + [0x80, 168] + [UInt8](repeating: 0xFF, count: 168)
  try save([1] + [codec, long].flatMap { [8, 0, 0, UInt8($0.count)] + $0 }, "program-map")
}
try saveProgramMaps()

/// Slices of a stream that become seeds: short ones, so that the fuzzer changes all of their syntax.
let sliceLimit = (count: 12, bytes: 4000)

/// Seeds of H.264 slice data, by entropy coding: each slice with the parameter sets before it, and the first pictures.
func saveH264Slices(_ bytes: [UInt8], whole: [UInt8]) throws {
  var sets = H264.ParameterSets()
  var front: [UInt8] = []
  var units: [[UInt8]] = []
  var stream = AnnexB.NALUnits(bytes.span)
  while let unit = stream.next(), units.count < 100 { units.append([UInt8](bytes[unit.range])) }
  var count = 0
  for (index, nalUnit) in units.enumerated() where count < sliceLimit.count {
    if (try? sets.insert(nalUnit.span)) != nil {
      front += startCode + nalUnit
      continue
    }
    guard let header = try? H264.SliceHeader(nalUnit: nalUnit.span, parameterSets: sets),
      let pps = sets.pictureParameterSet(header.pictureParameterSetID)
    else { continue }
    let subject = pps.usesCABAC ? "cabac-slices" : "cavlc-slices"
    if count == 0 { try save(whole, subject) }
    var seed = front + startCode + nalUnit
    if header.nalUnitType == .slicePartitionA {
      let later = units[(index + 1)...].prefix(2).filter { [3, 4].contains($0.first.map { $0 & 0x1F }) }
      seed += later.flatMap { startCode + $0 }
    }
    guard seed.count <= sliceLimit.bytes else { continue }
    try save(seed, subject)
    count += 1
  }
}

/// Seeds of an H.265 byte stream.
func saveH265(_ bytes: [UInt8]) throws {
  var (sets, pictures) = ([[UInt8]](), [[UInt8]]())
  var stream: [UInt8] = []
  var whole: [UInt8] = []
  var sliceCount = 0
  var units = AnnexB.NALUnits(bytes.span)
  var count = 0
  while let unit = units.next(), count < 40 {
    count += 1
    let nalUnit = [UInt8](bytes[unit.range])
    let type = H265.NALUnitType(headerByte: nalUnit[0])
    switch type {
    case .videoParameterSet: try save(nalUnit, "h265-vps")
    case .sequenceParameterSet: try save(nalUnit, "h265-sps")
    case .pictureParameterSet: try save(nalUnit, "h265-pps")
    case .prefixSEI, .suffixSEI: try save((sets + [nalUnit]).flatMap { startCode + $0 }, "h265-sei")
    default: break
    }
    if type.isParameterSet { sets.append(nalUnit) } else { pictures.append(Array(nalUnit.prefix(1000))) }
    if type.isSlice, nalUnit.count <= sliceLimit.bytes, sliceCount < sliceLimit.count {
      sliceCount += 1
      try save((sets + [nalUnit]).flatMap { startCode + $0 }, "h265-slices")
    }
    stream += startCode + nalUnit.prefix(64)
    if whole.count < 6000 { whole += startCode + nalUnit }
    if count % 10 == 0 { try save(stream, "h265-slice-header", "h265-access-units", "access-unit-scanner") }
  }
  guard !sets.isEmpty else { return }
  try save(stream, "h265-slice-header", "h265-access-units", "access-unit-scanner")
  try save(
    choices + whole, "h265-parse-element", "h265-parse-file", "h265-repack-element", "h265-decode-element", "h265-edit")
  try save(whole, "report", "h265-slices", "h265-rewriting")
  if let record = try? FormatDescription(h265ParameterSets: sets).h265DecoderConfigurationRecord().bytes() {
    try save(record, "hvcc")
    let units = Array(pictures.prefix(6))
    try save(
      MP4Seed(coding: "hvc1", configurationBox: "hvcC", configuration: record, nalUnits: units).bytes, "report")
  }
}

for path in arguments.dropFirst(2) {
  guard let file = try? Data(contentsOf: URL(fileURLWithPath: path)) else { continue }
  let bytes = [UInt8](file.prefix(1 << 20))
  if path.hasSuffix(".h265") || path.hasSuffix(".hevc") {
    try saveH265(bytes)
    continue
  }
  var (sets, pictures) = ([[UInt8]](), [[UInt8]]())
  var stream: [UInt8] = []
  var whole: [UInt8] = []
  var units = AnnexB.NALUnits(bytes.span)
  var count = 0
  while let unit = units.next(), count < 40 {
    count += 1
    let nalUnit = [UInt8](bytes[unit.range])
    switch nalUnit[0] & 0x1F {
    case 7, 15, 13:
      try save(nalUnit, "sps")
      sets.append(nalUnit)
    case 8:
      try save(nalUnit, "pps")
      sets.append(nalUnit)
    case 6: try save((sets + [nalUnit]).flatMap { startCode + $0 }, "sei")
    default: pictures.append(Array(nalUnit.prefix(1000)))
    }
    stream += startCode + nalUnit.prefix(64)
    if whole.count < 6000 { whole += startCode + nalUnit }
    if count % 10 == 0 { try save(stream, "slice-header", "access-units", "access-unit-info", "access-unit-scanner") }
  }
  guard !sets.isEmpty else { continue }
  try save(stream, "slice-header", "access-units", "access-unit-info", "access-unit-scanner")
  try save(choices + stream, "nal-units", "repack")
  try save(sets.flatMap { startCode + $0 }, "format-description")
  try save(choices + whole, "parse-element", "parse-file", "repack-element", "decode-element", "edit")
  try save(whole, "report", "rewriting")
  try saveH264Slices(bytes, whole: whole)
  if let record = try? FormatDescription(h264ParameterSets: sets).h264DecoderConfigurationRecord().bytes() {
    try save(record, "avcc")
    let units = Array(pictures.prefix(6))
    try save(
      MP4Seed(coding: "avc1", configurationBox: "avcC", configuration: record, nalUnits: units).bytes, "report")
  }
}
