// SPDX-License-Identifier: MPL-2.0

/// Access units whose turn has not come, and how far output and session are ready for the first of them.
struct AccessUnitQueue<Codec: DecoderCodec> {
  struct AccessUnit {
    let number: FrameNumber
    /// What its first slice says, once that was read.
    fileprivate(set) var summary: Codec.Tracker.Summary?
  }

  enum Preparation {
    case done
    /// Downstream is to be asked what it takes.
    case planning
    /// The plan is to be agreed on, once earlier pictures are out.
    case negotiating(OutputPlan)
    /// A session is to be opened, or told, once earlier pictures are out.
    case opening(OutputPlan)
  }

  private var waiting: [AccessUnit] = []
  private(set) var preparation = Preparation.done

  /// The access unit whose turn it is.
  var first: AccessUnit? { waiting.first }

  /// An access unit has come.
  mutating func append(_ number: FrameNumber) { waiting.append(AccessUnit(number: number)) }

  /// The first one was read.
  mutating func read(_ summary: Codec.Tracker.Summary) {
    if !waiting.isEmpty { waiting[0].summary = summary }
  }

  /// Output and session have to be made ready for the first one, or have come this far.
  mutating func prepare(_ step: Preparation) { preparation = step }

  /// The first one's turn is over.
  mutating func removeFirst() {
    if !waiting.isEmpty { waiting.removeFirst() }
    preparation = .done
  }

  /// Forgets them all. Answers which they were.
  mutating func removeAll() -> [FrameNumber] {
    defer {
      waiting.removeAll(keepingCapacity: true)
      preparation = .done
    }
    return waiting.map(\.number)
  }
}
