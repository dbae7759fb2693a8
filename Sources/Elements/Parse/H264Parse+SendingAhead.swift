// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x

/// The base class takes as long over a small unit as parsing it does. Where it has nothing to decide, because a raw
/// file is read from its start to its end, it is given the small units between two random access points together: those in
/// front are sent from here, the last one by the base class, which counts their bytes and their duration all the same.
extension H264Parse {
  /// Data to ask for at once, in bytes: many small units.
  static let batchSize = 64 << 10

  /// Whether units may be sent from here as long as the stream goes on as it did.
  var maySendAhead: Bool {
    sinkPad.isPulling && continuesOutput && makesTimestamps && capsState.frameRate != nil && segment.isWhole
      && !discardsBidirectional && format == .byteStream && inputFormat == .byteStream
      && !settings.snapshot.updatesTimeCode
      && (alignment == .accessUnit || scanner.listsNALUnits)
  }

  /// Sends units from here as long as another one can follow in the same frame; the last one is left in `outgoing`.
  ///
  /// - Parameter size: where the first unit ends, which is in `outgoing`.
  /// - Returns: where the last one ends.
  func sendAhead(_ size: Int, _ frame: borrowing BaseParseFrame) throws(FlowError) -> Int {
    guard maySendAhead, !frame.hasOutput, outgoing.attributes.pts != nil, outgoing.attributes.flags.contains(.deltaUnit)
    else { return size }
    let first = outgoing.attributes.dts
    var end = size
    do {
      let map = try frame.map()
      let bytes = map.bytes
      while end < bytes.count, !sourcePad.needsReconfigure {
        let rest = bytes.extracting(end...)
        let finding = find(rest, isMarked: false)
        guard case .accessUnit(let size) = finding else {
          pass(finding)
          end += finding.size
          break
        }
        // New caps, for one, are not to overtake the unit that waits.
        guard continuesSequence, prepareTimestamps(rest, unitSize: size), timestamps.picture != nil else {
          heldUnitSize = size
          break
        }
        var attributes = Buffer.Attributes()
        describe(&attributes)
        do throws(FlowError) {
          try sendOutput(frame, outgoing.attributes, isLast: false)
          if let end = outgoing.attributes.end { advancePosition(to: end) }
        } catch {
          resetScan()
          throw error
        }
        unit.outputSize = unit.coded.end
        unit.start = end
        countUnit(size)
        pictureCount += 1
        end += size
        swap(&outgoing, &unit)
      }
    }
    // The base class goes on counting where the frame ends.
    let last = outgoing.attributes
    if outgoing.start > 0, let first, let dts = last.dts {
      frame.modifyBuffer { $0.duration = dts + (last.duration ?? .zero) - first }
    }
    return end
  }

  /// Whether the unit in hand is another picture of the sequence, with nothing to decide for the base class. Random
  /// access points go into its index, and take the parameter sets so far and none of those that come behind.
  private var continuesSequence: Bool {
    unit.coded.contents.contains(.pictureStart) && !isRandomAccessPoint && !capsState.isStale && !isDiscontinuous
      && (unit.coded.dropped.isEmpty || scanner.listsNALUnits)
  }
}
