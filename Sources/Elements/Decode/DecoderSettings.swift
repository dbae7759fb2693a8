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
      case .automatic: PropertyNick("auto", "Frames; slices if the pipeline is live or low-delay is set")
      case .frame: PropertyNick("frame", "Frames: one frame of delay for each thread after the first")
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
      case .automatic: PropertyNick("auto", "Normal if the pipeline is live or low-delay is set, strict otherwise")
      case .veryStrict: PropertyNick("very-strict", "As strict")
      case .strict: PropertyNick("strict", "Hold back as many pictures as the level allows, so that none is lost")
      case .normal: PropertyNick("normal", "Hold back no pictures until one is reordered: less delay")
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
      case .process: PropertyNick("process", "In a sandboxed process of its own")
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
      case .automatic: PropertyNick("auto", "A device if it can decode the stream, otherwise software")
      case .required: PropertyNick("required", "A device; a stream that it cannot decode is an error")
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
  var verifiesSlices = false

  /// The session's threads.
  var threadCount: Int { min(Int(maximumThreads), SessionConfiguration.mostThreads) }

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
        "output-corrupt", \.outputCorrupt, "Output damaged pictures, flagged as corrupted, instead of dropping them"),
      .enumeration("skip-frame", \.skipFrame, "Pictures to skip"),
      .int("session-retries", \.sessionRetries, in: 0...100, "Attempts to replace a lost codec"),
    ]
  }

  /// Properties that the next session begins with: after a change of the stream's packaging or of the raw format's
  /// layout, or when the element restarts.
  private static var ofTheNextSession: [Setting<Self>] {
    [
      .int(
        "max-threads", \.maximumThreads, in: 0...Int32.max,
        "Decoding threads, 64 at most (0 = one per processor); takes effect with the next session"),
      .enumeration("thread-type", \.threadType, "Threading model; takes effect with the next session"),
      .enumeration(
        "isolation", \.isolation,
        """
        The process in which libavcodec decodes: a stream that crashes it ends only that process; the environment \
        variable H26X_ISOLATION sets the default; takes effect with the next session
        """),
      .uint64(
        "codec-timeout", \.codecTimeout, in: 1_000_000...UInt64(Int64.max),
        "Nanoseconds before an isolated codec that does not answer is replaced; takes effect with the next session"),
      .uint64(
        "codec-memory-limit", \.codecMemoryLimit, in: 0...UInt64.max,
        "Bytes that an isolated codec may use besides its pictures (0 = no limit); takes effect with the next session"),
      .enumeration(
        "hardware", \.hardware,
        """
        Whether a device decodes (VA-API, CUDA), with isolation=process in the child process; the environment \
        variable H26X_HARDWARE sets the default; takes effect with the next session
        """),
      .string(
        "hardware-device", \.hardwareDevice,
        "Render node, X display or CUDA device number (empty = any); takes effect with the next session"),
      .boolean(
        "low-delay", \.lowDelay,
        "Output a picture before the next one arrives, if the order allows it; takes effect with the next session"
      ),
      .enumeration(
        "std-compliance", \.compliance,
        "How to order pictures if the stream has no reorder depth; takes effect with the next session"),
      .boolean(
        "direct-rendering", \.directRendering,
        "Decode into downstream's buffers instead of copying; takes effect with the next negotiation"),
      .boolean(
        "verify-slices", \.verifiesSlices,
        "Flag pictures with damage that reading slices to the end finds as corrupted; takes effect with the next session"
      ),
    ]
  }

  /// Properties for codecs with picture hashes.
  static var pictureHashProperties: [Setting<Self>] {
    [
      .boolean(
        "verify-picture-hash", \.verifiesPictureHash,
        "Flag pictures that differ from their hashes in the stream as corrupted; takes effect with the next session"
      ).mutableInReady()
    ]
  }
}

extension DecoderSettings {
  /// `skip-frame`.
  enum SkipFrame: Int32, PropertyEnumeration {
    case none, bidirectional, nonReference, nonKey

    static var typeName: StaticString { "GstSwiftDecoderSkipFrame" }

    var nick: PropertyNick {
      switch self {
      case .none: PropertyNick("none", "Skip nothing")
      case .bidirectional: PropertyNick("bidirectional", "Skip B-frames")
      case .nonReference: PropertyNick("non-reference", "Skip pictures that no other refers to")
      case .nonKey: PropertyNick("non-key", "Skip everything but random access points")
      }
    }

    var sessionValue: SessionConfiguration.SkipFrames {
      switch self {
      case .none: .none
      case .bidirectional: .bidirectional
      case .nonReference: .nonReference
      case .nonKey: .nonKey
      }
    }
  }
}

/// Defaults of properties that come from the environment, for applications that cannot be edited. Read once.
struct DecoderDefaults: Sendable {
  /// The variable for `isolation`.
  static let isolationVariable = "H26X_ISOLATION"
  /// The variable for `hardware`.
  static let hardwareVariable = "H26X_HARDWARE"

  /// The defaults of this process.
  static let current = DecoderDefaults(ApplicationEnvironment.value)

  var isolation = DecoderSettings.Isolation.none
  var hardware = DecoderSettings.Hardware.off
  /// Describes an invalid value; `nil` if all are valid.
  private(set) var fault: String?

  /// Reads the variables' values, which are spelled like the properties' values; other values change nothing.
  init(_ value: (String) -> String?) {
    take(value(Self.isolationVariable), of: Self.isolationVariable, into: \.isolation)
    take(value(Self.hardwareVariable), of: Self.hardwareVariable, into: \.hardware)
  }

  private mutating func take<Choice: PropertyEnumeration & CaseIterable>(
    _ value: String?, of variable: String, into field: WritableKeyPath<Self, Choice>
  ) {
    guard let value, !value.isEmpty else { return }
    if let choice = Choice.allCases.first(where: { "\($0.nick.nick)" == value }) {
      self[keyPath: field] = choice
    } else {
      let choices = Choice.allCases.map { "\($0.nick.nick)" }.joined(separator: ", ")
      fault = "\(variable)=\(value) is ignored: use \(choices)"
    }
  }
}
