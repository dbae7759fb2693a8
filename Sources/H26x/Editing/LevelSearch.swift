// SPDX-License-Identifier: MPL-2.0

/// What a level must have room for, beside what parameter sets say.
public struct LevelDemand: Sendable, Hashable {
  /// Frames a second, where the parameter sets do not have them; nil when that is not known either.
  public var frameRate: Ratio?
  /// The highest bit rate in bits a second; nil when it is not known, and any is taken to fit.
  public var bitRate: UInt64?

  /// Creates a demand.
  public init(frameRate: Ratio? = nil, bitRate: UInt64? = nil) {
    (self.frameRate, self.bitRate) = (frameRate, bitRate)
  }
}

extension StreamEditing {
  /// The lowest level that a stream keeps: its pictures' size and rate, its decoded picture buffer, its HRD parameters
  /// and the bit rate that is asked for.
  ///
  /// - Parameters:
  ///   - nalUnits: the stream's parameter sets, before the edits.
  ///   - edits: what else is changed.
  ///   - demand: what parameter sets do not say.
  /// - Returns: nil when there is no SPS, and when the stream keeps no level.
  public static func lowestLevel(
    of nalUnits: [[UInt8]], after edits: [StreamEdit], _ demand: LevelDemand = LevelDemand()
  ) -> StreamLevel? {
    let sets = ParameterSets(nalUnits)
    return levels.first { level in
      do throws(StreamEditError) {
        var edited: [[UInt8]] = []
        for nalUnit in nalUnits {
          switch try Self.edited(parameterSet: nalUnit.span, edits + [.level(level)], sets: sets) {
          case .replaced(let bytes, _): edited.append(bytes)
          case .unchanged, .unreadable: edited.append(nalUnit)
          }
        }
        return keeps(ParameterSets(edited), demand)
      } catch {
        return false
      }
    }
  }

  private static func keeps(_ sets: ParameterSets, _ demand: LevelDemand) -> Bool {
    let sets = (UInt8(0)...31).compactMap { sets.sequenceParameterSet(SequenceParameterSetID($0)) }
    return !sets.isEmpty && sets.allSatisfy { keeps($0, demand) }
  }
}

extension LevelLimits {
  /// Whether pictures of this size, in the unit of ``LevelLimits/pictureSize``, keep to the limits.
  func keep(size: UInt64, sentRate: Ratio?, _ demand: LevelDemand) -> Bool {
    guard size <= pictureSize else { return false }
    if let bitRate = demand.bitRate, bitRate > nalBitRate { return false }
    guard let frames = sentRate ?? demand.frameRate else { return true }
    return !isExceeded(
      bySize: size, pictures: UInt64(frames.numerator), inSeconds: UInt64(frames.denominator))
  }
}

extension ParameterSetStore {
  /// The sets of these NAL units that can be read.
  fileprivate init(_ nalUnits: [[UInt8]]) {
    self.init()
    for nalUnit in nalUnits {
      do throws(BitstreamError) { try insert(nalUnit.span) } catch {
        // What refers to it is unknown.
      }
    }
  }
}
