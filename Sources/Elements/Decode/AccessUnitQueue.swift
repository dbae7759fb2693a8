// SPDX-License-Identifier: MPL-2.0
import VideoDecoding

/// Access units that wait to be decoded, and how far output and session are ready for the first of them.
struct AccessUnitQueue {
  struct AccessUnit {
    let number: FrameNumber
    /// Its description, read before it is decoded; nil until then.
    fileprivate(set) var description: AccessUnitDescription?
  }

  enum Preparation {
    case done
    /// Downstream's caps must be queried.
    case planning
    /// The plan must be negotiated, once earlier pictures are output.
    case negotiating(OutputPlan)
    /// A session must be opened, or given the format, once earlier pictures are output.
    case opening(OutputPlan)
  }

  private var waiting: [AccessUnit] = []
  private(set) var preparation = Preparation.done

  /// The access unit to decode next.
  var first: AccessUnit? { waiting.first }

  /// An access unit has come.
  mutating func append(_ number: FrameNumber) { waiting.append(AccessUnit(number: number)) }

  /// The first one was read.
  mutating func read(_ description: AccessUnitDescription) {
    if !waiting.isEmpty { waiting[0].description = description }
  }

  /// Sets how far output and session are ready for the first one.
  mutating func prepare(_ step: Preparation) { preparation = step }

  /// The first one is done with.
  mutating func removeFirst() {
    if !waiting.isEmpty { waiting.removeFirst() }
    preparation = .done
  }

  /// Removes all. Returns their numbers.
  mutating func removeAll() -> [FrameNumber] {
    defer {
      waiting.removeAll(keepingCapacity: true)
      preparation = .done
    }
    return waiting.map(\.number)
  }
}
