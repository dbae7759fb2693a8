// SPDX-License-Identifier: MPL-2.0
import H26x

/// The first stage of a copy that joins inputs with length prefixes. It gives parameter sets the ids that they have in
/// the description of all inputs. It gives each NAL unit a length of four bytes.
protocol JoinedStreaming {
  /// Takes the format of the access units that follow.
  ///
  /// - Throws: `CopyRefusal.formatChange` for parameter sets that the description does not have.
  mutating func begin(_ format: inout MediaOutput.VideoFormat) throws(CopyRefusal)
  /// Rewrites an access unit.
  ///
  /// - Throws: `CopyRefusal.formatChange` if it cannot be rewritten: then parameter sets must stay as they are.
  func rewrite(_ accessUnit: inout [UInt8]) throws(CopyRefusal)
}

extension JoinedDescription {
  /// The stage for an input.
  ///
  /// - Parameter number: of the input, from 0.
  func stream(_ number: Int) -> any JoinedStreaming {
    switch codec {
    case .h264: JoinedStream<H264>(self, number)
    case .h265: JoinedStream<H265>(self, number)
    }
  }
}

private struct JoinedStream<Codec: JoinSyntax>: JoinedStreaming {
  /// `nil` if parameter sets stay with their pictures.
  private let configuration: [UInt8]?
  private let identifiers: ParameterSetIdentifiers
  /// The sets of the input, and those of the description.
  private var (source, target) = (Codec.ParameterSets(), Codec.ParameterSets())
  private var described: [[UInt8]] = []
  private var packaging = NALPackaging.lengthPrefixed(.four)

  private let isRenumbered: Bool
  /// Whether messages, which refer to SPS and VPS, must be rewritten.
  private let movesSequences: Bool

  init(_ joined: JoinedDescription, _ number: Int) {
    configuration = joined.configuration
    let identifiers = joined.inputs.indices.contains(number) ? joined.inputs[number].identifiers : .init()
    self.identifiers = identifiers
    isRenumbered = identifiers != ParameterSetIdentifiers()
    movesSequences = [ParameterSetName.Kind.video, .sequence].contains { kind in
      (UInt8.min..<32).contains { identifiers[.init(kind, $0)] != $0 }
    }
    guard let configuration, joined.inputs.indices.contains(number) else { return }
    for nalUnit in joined.inputs[number].parameterSets { Self.insert(nalUnit, into: &source) }
    do throws(BitstreamError) { described = try Codec.ConfigurationRecord(configuration.span).nalUnits } catch {
      // It was written by the program itself.
    }
    for nalUnit in described { Self.insert(nalUnit, into: &target) }
  }

  private static func insert(_ nalUnit: [UInt8], into sets: inout Codec.ParameterSets) {
    guard nalUnit.first.map({ Codec.NALUnitType(headerByte: $0).isParameterSet }) == true else { return }
    // Slices that need a set that cannot be read are refused.
    do throws(BitstreamError) { try sets.insert(nalUnit.span) } catch {}
  }

  mutating func begin(_ format: inout MediaOutput.VideoFormat) throws(CopyRefusal) {
    // The repackager writes lengths of four bytes.
    guard let configuration else { return }
    do throws(BitstreamError) {
      let record = try Codec.ConfigurationRecord(format.configuration.span)
      packaging = .lengthPrefixed(record.nalLengthSize)
      for nalUnit in record.nalUnits
      where nalUnit.first.map({ Codec.NALUnitType(headerByte: $0).isParameterSet }) == true {
        guard described.contains(try Codec.rewritten(parameterSet: nalUnit.span, identifiers)) else {
          throw BitstreamError(.missingParameterSet, "parameter set", bitOffset: 0)
        }
      }
      format.configuration = configuration
    } catch { throw .formatChange }
  }

  func rewrite(_ accessUnit: inout [UInt8]) throws(CopyRefusal) {
    guard isRenumbered || packaging != .lengthPrefixed(.four) else { return }
    var rewritten: [UInt8] = []
    rewritten.reserveCapacity(accessUnit.count + 64)
    do throws(BitstreamError) {
      let target = NALPackaging.lengthPrefixed(.four)
      for range in packaging.nalUnits(of: accessUnit.span) {
        let nalUnit = accessUnit.span.extracting(range)
        guard isRenumbered, let moved = try self.rewritten(nalUnit) else {
          try target.append(nalUnit, to: &rewritten)
          continue
        }
        try target.append(moved.span, to: &rewritten)
      }
    } catch { throw .formatChange }
    accessUnit = rewritten
  }

  /// - Returns: `nil` if it refers to no parameter set.
  private func rewritten(_ nalUnit: Span<UInt8>) throws(BitstreamError) -> [UInt8]? {
    switch Codec.role(of: nalUnit) {
    case .slice, .slicePart: try Codec.rewritten(slice: nalUnit, from: source, to: target, identifiers)
    case .videoParameterSet, .sequenceParameterSet, .pictureParameterSet:
      try Codec.rewritten(parameterSet: nalUnit, identifiers)
    case .sei, .suffixSEI: movesSequences ? try Codec.rewritten(sei: nalUnit, identifiers, of: source) : nil
    // Views and layers have sets of their own.
    case .layerSlice, .sequenceParameterSetExtension:
      throw BitstreamError(.unsupported, "nal_unit_type", bitOffset: 0)
    case .accessUnitDelimiter, .end, .filler, .outsideStandard, .other: nil
    }
  }
}

extension MediaOutput.VideoFormat {
  /// Lets an IDR picture follow another picture than in the source. It gets another `idr_pic_id` if the picture in front
  /// has the same. If it begins a range, it has a `no_output_of_prior_pics_flag` of 0. Other pictures stay as they are.
  ///
  /// - Parameters:
  ///   - accessUnit: one with which decoding can begin.
  ///   - last: the access unit in front of it, of a frame the first field.
  ///   - lastFormat: the format of `last`.
  ///   - isFirst: whether it begins a range.
  ///   - hasStartCodes: whether access units have start codes, not length prefixes.
  func follow(
    _ accessUnit: inout MediaOutput.AccessUnit, _ last: MediaOutput.AccessUnit, _ lastFormat: Self, isFirst: Bool,
    hasStartCodes: Bool
  ) {
    switch codec {
    case .h264: follow(&accessUnit, last, lastFormat, isFirst, hasStartCodes, H264.self)
    case .h265: follow(&accessUnit, last, lastFormat, isFirst, hasStartCodes, H265.self)
    }
  }

  private func follow<Codec: JoinSyntax>(
    _ accessUnit: inout MediaOutput.AccessUnit, _ last: MediaOutput.AccessUnit, _ lastFormat: Self, _ isFirst: Bool,
    _ hasStartCodes: Bool, _ codec: Codec.Type
  ) {
    var (reader, lastReader) = (
      OpenSeam<Codec>(self, hasStartCodes: hasStartCodes), OpenSeam<Codec>(lastFormat, hasStartCodes: hasStartCodes)
    )
    reader.read(accessUnit)
    lastReader.read(last)
    guard let header = reader.header(of: accessUnit), header.isIDR else { return }
    let lastHeader = lastReader.header(of: last).flatMap { $0.isIDR ? $0 : nil }
    let isRenumbered = lastHeader.map { Codec.mustDiffer(header, from: $0) } ?? false
    guard isFirst || isRenumbered else { return }
    let (source, packaging) = (accessUnit.bytes, reader.packaging)
    var bytes: [UInt8] = []
    do throws(BitstreamError) {
      for range in packaging.nalUnits(of: source.span) {
        let nalUnit = source.span.extracting(range)
        guard Codec.role(of: nalUnit) == .slice else {
          try packaging.append(nalUnit, to: &bytes)
          continue
        }
        let beginning = try Codec.beginning(nalUnit, reader.sets, behind: lastHeader)
        try packaging.append(beginning.span, to: &bytes)
      }
    } catch { return }
    accessUnit.bytes = bytes
    accessUnit.isRenumbered = accessUnit.isRenumbered || isRenumbered
  }
}
