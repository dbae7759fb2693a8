// SPDX-License-Identifier: MPL-2.0

/// The best output for the pictures of this session or the next, if downstream takes it.
struct OutputPreference {
  /// Whether a device's pictures are to stay in its memory.
  enum Surfaces {
    /// No: downstream prefers the system's memory, no device decodes, or the stream is played backwards.
    case unwanted
    /// Yes, when a new session begins.
    case wanted
    /// Yes.
    case kept
  }

  /// Interleaved chroma: it is no work, because a device decodes, and downstream has listed its formats.
  let isSemiPlanar: Bool
  let surfaces: Surfaces
}
