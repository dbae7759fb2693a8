// SPDX-License-Identifier: MPL-2.0
import GStreamer

/// A repackager's counts since it was started: the `stats` property.
struct RepackStatistics: Sendable {
  /// Buffers passed on unchanged, in passthrough or because nothing had to be done.
  var untouched: UInt64 = 0
  /// Access units whose start codes and length prefixes were exchanged in place.
  var inPlace: UInt64 = 0
  /// Access units that were rewritten; of large ones, only the part in front of their slices.
  var copied: UInt64 = 0
  var bytesIn: UInt64 = 0
  var bytesOut: UInt64 = 0
  /// NAL units removed because of `drop`.
  var droppedNALUnits: UInt64 = 0
  /// Parameter sets inserted.
  var insertedParameterSets: UInt64 = 0
  var insertedDelimiters: UInt64 = 0
  /// NAL units that edits have changed, inserted or removed, and SEI with captions of buffers.
  var editedNALUnits: UInt64 = 0
  /// Times the parameter sets changed after the first ones.
  var parameterSetChanges: UInt64 = 0
  /// Parameter sets that could not be read and were left where they were.
  var unreadableParameterSets: UInt64 = 0
  /// Access units that lost data to a bad length.
  var damaged: UInt64 = 0
  /// Access units of which nothing was left, counted in ``damaged`` too.
  var lost: UInt64 = 0
  /// Start codes found in length-prefixed data.
  var misplacedStartCodes: UInt64 = 0
  /// Access units dropped because no parameter sets had come.
  var droppedBeforeParameterSets: UInt64 = 0

  /// The property's value.
  ///
  /// - Parameter name: of the structure.
  func structure(_ name: String) -> Structure {
    var structure = Structure(name)
    structure.set("untouched", .uint64(untouched))
    structure.set("in-place", .uint64(inPlace))
    structure.set("copied", .uint64(copied))
    structure.set("bytes-in", .uint64(bytesIn))
    structure.set("bytes-out", .uint64(bytesOut))
    structure.set("dropped-nal-units", .uint64(droppedNALUnits))
    structure.set("inserted-parameter-sets", .uint64(insertedParameterSets))
    structure.set("inserted-auds", .uint64(insertedDelimiters))
    structure.set("edited-nal-units", .uint64(editedNALUnits))
    structure.set("parameter-set-changes", .uint64(parameterSetChanges))
    structure.set("unreadable-parameter-sets", .uint64(unreadableParameterSets))
    structure.set("damaged", .uint64(damaged))
    structure.set("lost", .uint64(lost))
    structure.set("misplaced-start-codes", .uint64(misplacedStartCodes))
    structure.set("dropped-before-parameter-sets", .uint64(droppedBeforeParameterSets))
    return structure
  }
}
