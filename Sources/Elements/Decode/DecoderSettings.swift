// SPDX-License-Identifier: MPL-2.0
import GStreamer
import VideoDecoding

/// The properties of the decoders.
struct DecoderSettings: Sendable {
  /// `thread-type`.
  enum ThreadType: Int32, PropertyEnumeration {
    // Values and nicks as avdec_h264 and avdec_h265 have them, in which they are flags.
    case automatic = 0
    case frame = 1
    case slice = 2
    case frameAndSlice = 3
    // Ours alone: avdec_h264 has no word for it.
    case none = 4

    static var typeName: StaticString { "GstSwiftDecoderThreadType" }

    var nick: PropertyNick {
      switch self {
      case .automatic: PropertyNick("auto", "Frames; slices when the pipeline is live or low-delay is set")
      case .frame: PropertyNick("frame", "Frames: a frame of delay for each thread but one")
      case .slice: PropertyNick("slice", "Slices of a picture: no delay")
      case .frameAndSlice: PropertyNick("frame+slice", "Frames, live or not")
      case .none: PropertyNick("none", "No threads")
      }
    }

    var sessionValue: SessionConfiguration.ThreadType {
      switch self {
      case .automatic, .frameAndSlice: .automatic
      case .frame: .frame
      case .slice: .slice
      case .none: .none
      }
    }
  }

  /// `std-compliance`, with the values of avdec_h264 and avdec_h265. It only decides whether pictures are held back
  /// when the stream does not signal how deep its reordering is.
  enum Compliance: Int32, PropertyEnumeration {
    case automatic = 2_147_483_647
    case veryStrict = 2
    case strict = 1
    case normal = 0
    case unofficial = -1
    case experimental = -2

    static var typeName: StaticString { "GstSwiftDecoderCompliance" }

    var nick: PropertyNick {
      switch self {
      case .automatic: PropertyNick("auto", "Normal when the pipeline is live or low-delay is set, strict otherwise")
      case .veryStrict: PropertyNick("very-strict", "As strict")
      case .strict: PropertyNick("strict", "Hold back as many pictures as the level allows: none is lost")
      case .normal: PropertyNick("normal", "Hold back none until pictures turn out to be reordered: less delay")
      case .unofficial: PropertyNick("unofficial", "As normal")
      case .experimental: PropertyNick("experimental", "As normal")
      }
    }

    func sessionValue(isUrgent: Bool) -> SessionConfiguration.UnknownReordering {
      switch self {
      case .automatic: isUrgent ? .adapt : .expect
      case .veryStrict, .strict: .expect
      case .normal, .unofficial, .experimental: .adapt
      }
    }
  }

  /// `isolation`.
  enum Isolation: Int32, PropertyEnumeration {
    case none, process

    static var typeName: StaticString { "GstSwiftDecoderIsolation" }

    var nick: PropertyNick {
      switch self {
      case .none: PropertyNick("none", "In the application's process")
      case .process: PropertyNick("process", "In a process of its own, behind a sandbox")
      }
    }
  }

  /// `hardware`.
  enum Hardware: Int32, PropertyEnumeration {
    case off, automatic, required

    static var typeName: StaticString { "GstSwiftDecoderHardware" }

    var nick: PropertyNick {
      switch self {
      case .off: PropertyNick("off", "Software")
      case .automatic: PropertyNick("auto", "A device where it can decode the stream, otherwise software")
      case .required: PropertyNick("required", "A device; what it does not decode is an error")
      }
    }

    var sessionValue: SessionConfiguration.Hardware {
      switch self {
      case .off: .off
      case .automatic: .preferred
      case .required: .required
      }
    }
  }

  /// The value that was set; `nil` if the default applies.
  private var chosenIsolation: Isolation?
  var isolation: Isolation {
    get { chosenIsolation ?? DecoderDefaults.current.isolation }
    set { chosenIsolation = newValue }
  }
  /// Whether the default, decoding in a process of its own, is forbidden by a filter that the application is behind.
  /// A value that was set still applies.
  var isIsolationForbidden: Bool {
    chosenIsolation == nil && isolation == .process && ApplicationFilter.forbidsProcesses
  }
  var hardware = DecoderDefaults.current.hardware
  /// Empty for any device.
  var hardwareDevice = ""
  /// Nanoseconds.
  var codecTimeout: UInt64 = 5_000_000_000
  /// Bytes; 0 for no limit.
  var codecMemoryLimit: UInt64 = 0
  var maximumThreads: Int32 = 0
  var threadType = ThreadType.automatic
  var outputCorrupt = true
  var skipFrame = SkipFrame.none
  var lowDelay = false
  var sessionRetries: Int32 = 5
  var compliance = Compliance.automatic
  var directRendering = true
  var verifiesPictureHash = false

  /// More than 64 threads gain nothing at any picture size.
  var threadCount: Int { Int(min(maximumThreads, 64)) }

  /// The session's isolation.
  var sessionIsolation: SessionConfiguration.Isolation {
    switch isolation {
    case .none: .none
    case .process where isIsolationForbidden: .none
    case .process:
      .process(
        ProcessLimits(
          timeout: .nanoseconds(Int64(clamping: codecTimeout)), memory: codecMemoryLimit > 0 ? codecMemoryLimit : nil))
    }
  }

  static var properties: [Setting<Self>] { immediate + ofTheNextSession.map { $0.mutableInReady() } }

  /// Properties that take effect immediately.
  private static var immediate: [Setting<Self>] {
    [
      .boolean(
        "output-corrupt", \.outputCorrupt, "Put damaged pictures out, flagged as corrupted, rather than drop them"),
      .enumeration("skip-frame", \.skipFrame, "Pictures not to decode"),
      .int("session-retries", \.sessionRetries, in: 0...100, "Attempts to bring back a codec that was lost"),
    ]
  }

  /// Properties that the next session begins with: after a change of the stream's packaging or of the raw format's
  /// layout, or when the element restarts.
  private static var ofTheNextSession: [Setting<Self>] {
    [
      .int(
        "max-threads", \.maximumThreads, in: 0...Int32.max,
        "Threads to decode with (0 = as many as processors), 64 at most; from the next session on"),
      .enumeration("thread-type", \.threadType, "What threads share; from the next session on"),
      .enumeration(
        "isolation", \.isolation,
        """
        Where libavcodec decodes: a stream that makes it crash ends that process only; the environment variable \
        H26X_ISOLATION gives the default; from the next session on
        """),
      .uint64(
        "codec-timeout", \.codecTimeout, in: 1_000_000...UInt64(Int64.max),
        "Nanoseconds within which an isolated codec must answer, or be replaced; from the next session on"),
      .uint64(
        "codec-memory-limit", \.codecMemoryLimit, in: 0...UInt64.max,
        "Bytes of memory that an isolated codec may use beside its pictures (0 = no limit); from the next session on"),
      .enumeration(
        "hardware", \.hardware,
        """
        Whether a device decodes (VA-API, CUDA), with isolation=process in that process; the environment variable \
        H26X_HARDWARE gives the default; from the next session on
        """),
      .string(
        "hardware-device", \.hardwareDevice,
        "Render node, X display or CUDA device number (empty = what is there); from the next session on"),
      .boolean(
        "low-delay", \.lowDelay,
        "Put a picture out before the next one comes where the stream's order allows it; from the next session on"),
      .enumeration(
        "std-compliance", \.compliance,
        "What to do when the stream does not say how deep it is reordered; from the next session on"),
      .boolean(
        "direct-rendering", \.directRendering,
        "Decode into the buffers that go downstream; off: copy; from the next negotiation on"),
    ]
  }

  /// Properties for codecs with picture hashes.
  static var pictureHashProperties: [Setting<Self>] {
    [
      .boolean(
        "verify-picture-hash", \.verifiesPictureHash,
        "Flag pictures that differ from the hashes that the stream sends as corrupted; from the next session on"
      ).mutableInReady()
    ]
  }
}
