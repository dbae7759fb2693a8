// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// An error of an element, as applications get it from the bus (`GST_MESSAGE_ERROR`, gsterror.h).
public struct ElementError: Error, Sendable {
  /// The kind of failure: a GError domain and its code.
  public enum Code: Hashable, Sendable {
    /// The data.
    case stream(StreamCode)
    /// A file, a device or memory.
    case resource(ResourceCode)
    /// GStreamer itself: linking, negotiation, states.
    case core(CoreCode)
    /// A library that the element uses.
    case library(LibraryCode)
    /// Some other GError domain, by name, with its code.
    case other(domain: String, code: Int32)
  }

  /// `GstStreamError`.
  public enum StreamCode: Int32, Sendable {
    /// Anything without a code of its own.
    case failed = 1
    /// No code was chosen.
    case tooLazy
    /// Not implemented yet.
    case notImplemented
    /// The type of the stream is unknown.
    case typeNotFound
    /// The element does not handle streams of this type.
    case wrongType
    /// No decoder or encoder is available.
    case codecNotFound
    /// Decoding failed.
    case decode
    /// Encoding failed.
    case encode
    /// Demultiplexing failed.
    case demux
    /// Multiplexing failed.
    case mux
    /// The stream is in the wrong format.
    case format
  }

  /// `GstResourceError`.
  public enum ResourceCode: Int32, Sendable {
    /// Anything without a code of its own.
    case failed = 1
    /// No code was chosen.
    case tooLazy
    /// Not found.
    case notFound
    /// In use by somebody else.
    case busy
    /// Cannot be opened for reading.
    case openRead
    /// Cannot be opened for writing.
    case openWrite
    /// Cannot be opened for reading and writing.
    case openReadWrite
    /// Cannot be closed.
    case close
    /// Reading failed.
    case read
    /// Writing failed.
    case write
    /// Seeking failed.
    case seek
    /// Synchronizing failed.
    case sync
    /// Its settings cannot be read or changed.
    case settings
    /// No space is left.
    case noSpaceLeft
    /// The user is not authorized.
    case notAuthorized
  }

  /// `GstCoreError`.
  public enum CoreCode: Int32, Sendable {
    /// Anything without a code of its own.
    case failed = 1
    /// No code was chosen.
    case tooLazy
    /// Not implemented yet.
    case notImplemented
    /// A change of state failed.
    case stateChange
    /// Something is wrong with a pad.
    case pad
    /// Something is wrong with a thread.
    case thread
    /// Caps negotiation failed.
    case negotiation
    /// An event failed.
    case event
    /// A seek failed.
    case seek
    /// Something is wrong with caps.
    case caps
    /// Something is wrong with tags.
    case tag
    /// A plugin is missing.
    case missingPlugin
    /// Something is wrong with the clock.
    case clock
    /// A feature that GStreamer was built without.
    case disabled
  }

  /// `GstLibraryError`.
  public enum LibraryCode: Int32, Sendable {
    /// Anything without a code of its own.
    case failed = 1
    /// No code was chosen.
    case tooLazy
    /// The library cannot be initialized.
    case initialise
    /// The library cannot be shut down.
    case shutdown
    /// The library refuses its settings.
    case settings
    /// The library cannot encode.
    case encode
  }

  /// The kind of failure.
  public var code: Code
  /// One sentence for the user.
  public var message: String
  /// For developers: the finding and the expectation.
  public var debug: String

  /// An error, not posted yet.
  public init(_ code: Code, _ message: String, debug: String = "") {
    self.code = code
    self.message = message
    self.debug = debug
  }

  /// Whether the message is only GStreamer's text for the code, in the user's language; the reason is in ``debug``
  /// then.
  package var isGeneral: Bool {
    switch code {
    // "Internal data stream error."
    case .stream(.failed), .stream(.tooLazy): return true
    default: break
    }
    let (domain, code) = domainAndCode
    guard let general = unsafe gst_error_get_message(domain, code) else { return false }
    defer { unsafe g_free(general) }
    return unsafe message == String(cString: general)
  }

  var domainAndCode: (domain: GQuark, code: Int32) {
    switch code {
    case .stream(let code): (gst_stream_error_quark(), code.rawValue)
    case .resource(let code): (gst_resource_error_quark(), code.rawValue)
    case .core(let code): (gst_core_error_quark(), code.rawValue)
    case .library(let code): (gst_library_error_quark(), code.rawValue)
    case .other(let domain, let code): (unsafe g_quark_from_string(domain), code)
    }
  }
}

extension Element {
  /// Posts an error on the bus, with an optional structure of details for applications.
  ///
  /// The caller then stops data flow by throwing `FlowError.error`.
  public func post(
    _ error: ElementError, details: consuming Structure? = nil,
    file: StaticString = #fileID, function: StaticString = #function, line: Int32 = #line
  ) {
    post(GST_MESSAGE_ERROR, error, details, file, function, line)
  }

  /// Waits while the pipeline changes its state, and fifty milliseconds more for the application to reach its main
  /// loop. The wait is about 200 ms at most, and ends when data flow must stop.
  ///
  /// For errors at the start of data flow: some programs, such as gst-launch-1.0 of GStreamer 1.22, wait forever if
  /// one comes between `gst_element_set_state()` and their main loop.
  package func letStateChangeFinish(unless isStopping: () -> Bool) {
    var outermost = unsafe raw
    unsafe gst_object_ref(outermost)
    while let parent = unsafe cgst_element_get_parent(outermost) {
      unsafe gst_object_unref(outermost)
      unsafe outermost = parent
    }
    defer { unsafe gst_object_unref(outermost) }
    var idleMilliseconds = 0
    for _ in 0..<200 where !isStopping() {
      let isIdle = unsafe cgst_element_state_trylock(outermost) != 0
      if isIdle { unsafe cgst_element_state_unlock(outermost) }
      g_usleep(1000)
      idleMilliseconds = isIdle ? idleMilliseconds + 1 : 0
      if idleMilliseconds == 50 { return }
    }
  }

  /// Posts a warning on the bus; data flow continues.
  public func postWarning(
    _ warning: ElementError, details: consuming Structure? = nil,
    file: StaticString = #fileID, function: StaticString = #function, line: Int32 = #line
  ) {
    post(GST_MESSAGE_WARNING, warning, details, file, function, line)
  }

  /// Posts an element message on the bus, such as measurements; applications get it as `Message.Content.element`.
  public func postMessage(_ fields: consuming Structure) {
    let object = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstObject.self)
    unsafe gst_element_post_message(raw, gst_message_new_element(object, fields.take()))
  }

  private func post(
    _ type: GstMessageType, _ error: ElementError, _ details: consuming Structure?,
    _ file: StaticString, _ function: StaticString, _ line: Int32
  ) {
    let (domain, code) = error.domainAndCode
    let structure: UnsafeMutablePointer<GstStructure>?
    if let details { unsafe structure = details.take() } else { unsafe structure = nil }
    unsafe gst_element_message_full_with_details(
      raw, type, domain, code, g_strdup(error.message), g_strdup(error.debug),
      file.cString, function.cString, line, structure)
  }
}
