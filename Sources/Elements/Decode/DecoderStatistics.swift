// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding

/// The contents of the `stats` property.
struct DecoderStatistics: Sendable {
  var session = SessionStatistics()
  /// Access units that never reached a session: no parameter sets, or skipped in trick mode.
  var refused: UInt64 = 0
  /// Pictures copied out of the memory that they were decoded into.
  var copied: UInt64 = 0
  var lastFault: String?

  /// The property's value.
  ///
  /// - Parameter element: the element's name.
  func structure(of element: String) -> Structure {
    var structure = Structure("application/x-\(element)-stats")
    structure.set("frames-in", .uint64(session.submitted &+ refused))
    structure.set("frames-out", .uint64(session.output))
    structure.set("dropped", .uint64(session.dropped &+ refused))
    structure.set("lost", .uint64(session.lost &+ refused))
    structure.set("failed", .uint64(session.failed))
    structure.set("corrupted", .uint64(session.corrupted))
    structure.set("concealed", .uint64(session.concealed))
    structure.set("hash-mismatches", .uint64(session.hashMismatches))
    structure.set("out-of-order", .uint64(session.outOfOrder))
    structure.set("session-restarts", .uint64(session.restarts))
    structure.set("replayed", .uint64(session.replayed))
    structure.set("resynchronisations", .uint64(session.resynchronisations))
    structure.set("copied", .uint64(copied))
    // For sessions whose codec is in a process of its own.
    if let process = session.codecProcess { structure.set("codec-process", .int(process)) }
    if session.codecProcess != nil || session.processesLost > 0 {
      structure.set("processes-lost", .uint64(session.processesLost))
    }
    // For sessions that a device decodes, or has decoded.
    if session.softwareFallbacks > 0 { structure.set("software-fallbacks", .uint64(session.softwareFallbacks)) }
    if let decoder = session.decoder, decoder != .software || session.softwareFallbacks > 0 {
      structure.set("decoder", .string("\(decoder)"))
    }
    // For sessions that verify slices.
    if let count = session.damagedSlices { structure.set("damaged-slices", .uint64(count)) }
    if let damage = session.lastDamagedSlice { structure.set("last-damaged-slice", .string(damage.description)) }
    if let lastFault { structure.set("last-error", .string(lastFault)) }
    return structure
  }
}

extension SessionStatistics {
  /// Adds another session's counts.
  mutating func add(_ other: SessionStatistics) {
    submitted &+= other.submitted
    output &+= other.output
    dropped &+= other.dropped
    lost &+= other.lost
    failed &+= other.failed
    corrupted &+= other.corrupted
    concealed &+= other.concealed
    hashMismatches &+= other.hashMismatches
    outOfOrder &+= other.outOfOrder
    if let count = other.damagedSlices { damagedSlices = (damagedSlices ?? 0) &+ count }
    lastDamagedSlice = other.lastDamagedSlice ?? lastDamagedSlice
    restarts &+= other.restarts
    replayed &+= other.replayed
    resynchronisations &+= other.resynchronisations
    processesLost &+= other.processesLost
    softwareFallbacks &+= other.softwareFallbacks
    // The session that came last.
    decoder = other.decoder
    codecProcess = other.codecProcess
    allocatorMisses &+= other.allocatorMisses
    lastError = other.lastError ?? lastError
  }
}
