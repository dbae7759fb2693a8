// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

extension H264Parse {
  /// An access unit delimiter that allows every kind of slice, with its start code.
  private static let delimiter: [UInt8] = [0, 0, 0, 1, 0x09, 0xF0]

  func insertDelimiter(_ buffer: inout Buffer) {
    guard let delimiter = Buffer(copying: Self.delimiter.span) else { return }
    buffer.prepend(delimiter)
  }

  /// Whether parameter sets are to be put into the outgoing unit.
  func takesParameterSets(at time: ClockTime?) -> Bool {
    guard outgoing.coded.idrOffset != nil else { return false }
    guard insertion.isDue(at: time, interval: settings.snapshot.configInterval) else { return false }
    insertion.noticeSent(at: time)
    let present = scanner.cutsNALUnits ? scanner.accessUnitContents : outgoing.coded.contents
    return !present.contains(.parameterSets)
  }

  /// SPS, their extensions and PPS, in the order that each needs those before.
  private var insertedParameterSets: [[UInt8]] {
    scanner.parameterSets.sequenceParameterSetNALUnits + scanner.parameterSets.extensionNALUnits
      + scanner.parameterSets.subsetSequenceParameterSetNALUnits + scanner.parameterSets.pictureParameterSetNALUnits
  }

  func insertParameterSets(_ buffer: inout Buffer, at offset: Int) {
    var bytes: [UInt8] = []
    for nalUnit in insertedParameterSets { bytes += packaged(nalUnit) }
    guard !bytes.isEmpty, let inserted = Buffer(copying: bytes.span) else { return }
    buffer.insert(inserted, at: offset)
  }

  /// A NAL unit behind what stands in front of NAL units in the output.
  private func packaged(_ nalUnit: [UInt8]) -> [UInt8] {
    guard format?.isLengthPrefixed == true else { return [0, 0, 0, 1] + nalUnit }
    let count = outputPackaging.prefixLength
    return (0..<count).map { UInt8(truncatingIfNeeded: nalUnit.count >> (8 * (count - 1 - $0))) } + nalUnit
  }

  /// Pushes the parameter sets in front of the NAL unit that goes out.
  func pushParameterSets(at attributes: Buffer.Attributes) throws(FlowError) {
    for nalUnit in insertedParameterSets { try push(nalUnit, at: attributes) }
  }

  /// Pushes a NAL unit of our own in front of the one that goes out.
  func push(_ nalUnit: [UInt8], at attributes: Buffer.Attributes) throws(FlowError) {
    guard var buffer = Buffer(copying: packaged(nalUnit).span) else { throw .error }
    var own = buffer.attributes
    (own.pts, own.dts, own.duration) = (attributes.pts, attributes.dts, .zero)
    own.flags.insert(.deltaUnit)
    if nalUnit.first != 0x09 { own.flags.insert(.header) }
    buffer.attributes = own
    try sourcePad.push(buffer)
  }
}
