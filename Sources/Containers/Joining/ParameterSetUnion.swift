// SPDX-License-Identifier: MPL-2.0
import H26x

/// The parameter sets of several streams, side by side.
///
/// A set keeps its id if that is free, or if the set with it is equal and thus shared. Otherwise, it shares an equal set
/// under another id, or gets a free id. In H.264, an SPS and its extension have one id.
struct ParameterSetUnion<Codec: JoinSyntax> {
  /// How the sets of a stream were added.
  struct Addition: Sendable, Hashable {
    /// The new ids of the stream's sets.
    var identifiers = ParameterSetIdentifiers()
    /// Those that were there already, by their ids in the stream.
    var shared: [ParameterSetName] = []
    /// Those that were added with their own ids.
    var added: [ParameterSetName] = []
    /// Those that have other ids, shared or not, by their ids in the stream.
    var renumbered: [ParameterSetName] = []
  }

  /// Why the sets of a stream cannot be added.
  enum Obstacle: Error, Sendable, Hashable {
    /// The stream has several sets with one id.
    case changes
    /// All ids of a kind are taken.
    case idsExhausted
    /// A set cannot be read, or belongs to another layer.
    case unreadable
  }

  private var sets: [ParameterSetName: [[UInt8]]] = [:]

  /// The NAL units of all sets, in sending order.
  var nalUnits: [[UInt8]] { Self.sorted(sets.keys).flatMap { sets[$0] ?? [] } }

  /// Adds the parameter sets of a stream.
  ///
  /// - Parameter nalUnits: VPS, SPS, SPS extensions and PPS, in any order. Each counts once.
  /// - Throws: the reason for which they cannot be added. Nothing has changed then.
  mutating func add(_ nalUnits: [[UInt8]]) throws(Obstacle) -> Addition {
    let own = try Self.named(nalUnits)
    var (union, addition) = (sets, Addition())
    for name in Self.sorted(own.keys) {
      guard let units = own[name] else { continue }
      func moved(to id: UInt8) throws(Obstacle) -> [[UInt8]] {
        addition.identifiers[name] = id
        do throws(BitstreamError) {
          var moved: [[UInt8]] = []
          for unit in units { moved.append(try Codec.rewritten(parameterSet: unit.span, addition.identifiers)) }
          return moved
        } catch { throw .unreadable }
      }
      guard union[name] != nil else {
        union[name] = try moved(to: name.id)
        addition.added.append(name)
        continue
      }
      let ids = (0..<Codec.idCount(of: name.kind)).map { UInt8(truncatingIfNeeded: $0) }
      var place: UInt8?
      // Sets of the stream itself are none to share.
      for id in [name.id] + ids where place == nil && sets[.init(name.kind, id)] != nil {
        if try moved(to: id) == sets[.init(name.kind, id)] { place = id }
      }
      if let place {
        addition.identifiers[name] = place
        addition.shared.append(name)
        if place != name.id { addition.renumbered.append(name) }
        continue
      }
      let free = ids.filter { union[.init(name.kind, $0)] == nil }
      // An id that the stream has, too, would make another set move.
      guard let id = free.first(where: { own[.init(name.kind, $0)] == nil }) ?? free.first else { throw .idsExhausted }
      union[.init(name.kind, id)] = try moved(to: id)
      addition.renumbered.append(name)
    }
    sets = union
    return addition
  }

  /// The NAL units of each set.
  private static func named(_ nalUnits: [[UInt8]]) throws(Obstacle) -> [ParameterSetName: [[UInt8]]] {
    var named: [ParameterSetName: [[UInt8]]] = [:]
    for nalUnit in nalUnits {
      let name: ParameterSetName
      do throws(BitstreamError) { name = try Codec.name(ofParameterSet: nalUnit.span) } catch { throw .unreadable }
      let units = named[name] ?? []
      if units.contains(nalUnit) { continue }
      let type = nalUnit.first.map { Codec.NALUnitType(headerByte: $0) }
      guard !units.contains(where: { $0.first.map { Codec.NALUnitType(headerByte: $0) } == type }) else {
        throw .changes
      }
      // The SPS is in front of its extension.
      named[name] = type == .sequenceParameterSet ? [nalUnit] + units : units + [nalUnit]
    }
    return named
  }

  /// VPS, SPS and PPS, each by id: no set refers to a later one.
  private static func sorted(_ names: some Sequence<ParameterSetName>) -> [ParameterSetName] {
    names.sorted { ($0.kind.rawValue, $0.id) < ($1.kind.rawValue, $1.id) }
  }
}
