// SPDX-License-Identifier: MPL-2.0
import GStreamer
import H26x
import VideoDecoding

/// The output to negotiate with downstream, or the output that was negotiated.
struct OutputPlan {
  private(set) var layout: PictureLayout
  private(set) var sessionLayout: SessionConfiguration.OutputLayout
  /// The session's output.
  private(set) var source: VideoInfo
  /// The layout of the session's output before it is converted; `nil` if conversion is one step.
  private(set) var intermediate: VideoInfo?
  /// The video that downstream gets.
  private(set) var info: VideoInfo
  /// The way the caps name the format of pictures in a device's memory; `nil` if they are in the system's.
  private(set) var naming: DMABufMemory.Naming?
  /// Nothing is negotiated before the first picture, whose modifier the caps have.
  private(set) var awaitsPicture = false
  /// Fields of the caps that `info` has no place for, by name.
  let displayFields: [String: String]
  /// Downstream's buffers are laid out so that libavcodec can decode into them. Known once the plan is negotiated.
  var isDirect = false

  /// The raw video's caps.
  var caps: Caps {
    // Set here, because the base class would turn multiview-mode "unknown" into "mono".
    var caps = naming.map { DMABufMemory.caps(of: info, as: $0) } ?? info.caps()
    for (name, text) in displayFields { caps.set(name, .string(text)) }
    return caps
  }

  /// The same output, converted from pictures that the session lays out differently.
  ///
  /// Samples stay the same. If the plan was a conversion, its pictures are first laid out as it expects them.
  ///
  /// - Parameters:
  ///   - layout: how the pictures are laid out.
  ///   - sessionLayout: the layout that was requested from the session; nil for the layout that gives `layout`.
  func converting(
    from layout: PictureLayout, of sessionLayout: SessionConfiguration.OutputLayout? = nil
  ) throws(ElementError) -> OutputPlan {
    guard let format = layout.pixelFormat.videoFormat,
      var described = VideoInfo(format: format, width: layout.width, height: layout.height)
    else { throw .unplannable(layout) }
    described.copyDescription(from: source)
    var plan = self
    plan.layout = layout
    plan.naming = nil
    plan.awaitsPicture = false
    plan.source = described
    plan.intermediate = source.format == info.format ? nil : source
    plan.sessionLayout = sessionLayout ?? (layout.pixelFormat.isSemiPlanar ? .semiPlanar : .native)
    // interlace-mode=alternate cannot be converted: fields are output as pictures.
    if info.interlaceMode == .alternate, format != info.format,
      var field = VideoInfo(format: info.format, width: layout.width, height: layout.height)
    {
      field.describeAsConverted(from: described)
      plan.info = field
    }
    return plan
  }
}

extension OutputPlan {
  /// Chooses the output for pictures that libavcodec will produce with this layout.
  ///
  /// - Parameters:
  ///   - native: the layout before the session interleaves chroma.
  ///   - interlacing: how pictures are made of fields.
  ///   - describe: fills in the description beyond format and size.
  ///   - prefersSemiPlanar: interleaved chroma is no work, because a device decodes.
  ///   - surface: pictures stay in a device's memory if downstream takes that.
  ///   - allowed: what both pads allow; `nil` when nothing is linked.
  /// - Throws: the message for the application when nothing fits.
  init(
    native: PictureLayout, interlacing: Interlacing, describe: (inout VideoInfo) -> Void,
    displayFields: [String: String], prefersSemiPlanar: Bool, surface: DMABufMemory.Surface?, allowed: borrowing Caps?
  ) throws(ElementError) {
    guard let nativeFormat = native.pixelFormat.videoFormat else {
      throw ElementError(
        .stream(.format), "GStreamer has no format for the stream's samples.",
        debug: "libavcodec decodes to \(native.pixelFormat.rawValue)")
    }
    guard var described = VideoInfo(format: nativeFormat, width: native.width, height: native.height) else {
      throw .unplannable(native)
    }
    describe(&described)
    if interlacing == .fields, let info = described.alternatingFields(), Self.isTaken(info, allowed) {
      self.init(
        layout: native, sessionLayout: .native, source: described, info: info, displayFields: displayFields)
      return
    }
    let semiPlanar = native.pixelFormat.semiPlanar
    if let surface, surface.canBeShown(cropped: native.crop), let format = semiPlanar?.videoFormat,
      var info = VideoInfo(format: format, width: native.width, height: native.height)
    {
      info.copyDescription(from: described)
      if let naming = surface.naming(of: info, allowed) {
        var layout = native
        layout.pixelFormat = semiPlanar ?? native.pixelFormat
        layout.modifier = surface.modifier
        self.init(
          layout: layout, sessionLayout: .semiPlanar, source: info, info: info, naming: naming,
          awaitsPicture: !surface.isKnown && naming != .linear, displayFields: displayFields)
        return
      }
    }
    let allowed = Self.frames(allowed)
    let preferred = prefersSemiPlanar ? semiPlanar?.videoFormat : nil
    for candidate in RawFormatChoice.candidates(for: nativeFormat, preferring: preferred, allowed: allowed) {
      if candidate == nativeFormat {
        self.init(
          layout: native, sessionLayout: .native, source: described, info: described, displayFields: displayFields)
        return
      }
      guard var info = VideoInfo(format: candidate, width: native.width, height: native.height) else { continue }
      if let semiPlanar, candidate == semiPlanar.videoFormat {
        info.copyDescription(from: described)
        var layout = native
        layout.pixelFormat = semiPlanar
        self.init(layout: layout, sessionLayout: .semiPlanar, source: info, info: info, displayFields: displayFields)
        return
      }
      // A converter needs the colorimetry that the stream leaves open: guessed by the size, as downstream would.
      guard let source = VideoInfo(described.caps()) else { continue }
      info.describeAsConverted(from: source)
      if PictureConversion.isPossible(from: source, to: info) {
        self.init(
          layout: native, sessionLayout: .native, source: source, info: info, displayFields: displayFields)
        return
      }
    }
    throw ElementError(
      .core(.negotiation), "Downstream accepts no format that the decoder can output.",
      debug: "decodes to \(nativeFormat.name); downstream accepts \(Self.describe(allowed))")
  }

  private static func isTaken(_ info: VideoInfo, _ allowed: borrowing Caps?) -> Bool {
    switch allowed {
    case .some(let caps): caps.canIntersect(info.caps())
    case .none: false
    }
  }

  /// The allowed caps of video whose buffers are whole pictures.
  private static func frames(_ allowed: borrowing Caps?) -> Caps? {
    switch allowed {
    case .some(let caps): caps.intersection(Caps(mediaType: "video/x-raw"))
    case .none: nil
    }
  }

  private static func describe(_ allowed: borrowing Caps?) -> String {
    switch allowed {
    case .some(let caps): caps.description
    case .none: "nothing"
    }
  }
}

extension OutputPlan {
  /// Whether another plan is for the same output.
  func isAgreed(_ plan: OutputPlan) -> Bool {
    layout == plan.layout && naming == plan.naming && displayFields == plan.displayFields
      && info.isEqual(to: plan.info)
  }

  /// Pictures go downstream in the session's format.
  var isSessionFormat: Bool { layout.pixelFormat.videoFormat == info.format }

  /// Configures a pool for buffers that libavcodec can decode into: downstream's if it can, else one of our own.
  /// Returns whether that worked.
  func configurePool(_ offer: consuming Query.PoolOffer, caps: borrowing Caps, in query: borrowing Query) -> Bool {
    let alignment = layout.videoAlignment
    var padded = info
    padded.align(alignment)
    var configuration = BufferPool.Configuration(
      size: UInt32(clamping: max(padded.size, Int(offer.size))), minimum: offer.minimum, maximum: 0)
    configuration.alignmentMask = PictureLayout.alignment - 1
    configuration.videoMeta = true
    configuration.videoAlignment = alignment
    // The decoder holds reference pictures: a pool with an upper limit could run dry.
    if offer.maximum == 0, let pool = offer.pool.take() {
      if pool.has(.videoAlignment), pool.has(.videoMeta), pool.configure(configuration, caps: caps) {
        query.setFirstPool(
          Query.PoolOffer(pool: pool, size: configuration.size, minimum: offer.minimum, maximum: 0))
        return true
      }
    }
    let own = BufferPool.video()
    guard own.configure(configuration, caps: caps) else { return false }
    query.setFirstPool(Query.PoolOffer(pool: own, size: configuration.size, minimum: offer.minimum, maximum: 0))
    return true
  }
}

extension ElementError {
  /// GStreamer has no raw video like this.
  fileprivate static func unplannable(_ layout: PictureLayout) -> ElementError {
    ElementError(
      .stream(.format), "GStreamer has no raw video for the stream's pictures.",
      debug: "\(layout.width)x\(layout.height) \(layout.pixelFormat.rawValue)")
  }
}

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
