// SPDX-License-Identifier: MPL-2.0
import CGStreamer
import CGStreamerDiscovery
public import GStreamer
import Synchronization

/// Finds out what a file or a network stream has, without playing it (`GstDiscoverer`, gst/pbutils/gstdiscoverer.h):
/// duration, streams, formats and tags.
///
/// ```swift
/// let media = try await Discoverer().media(at: "file:///tmp/film.mkv")
/// for stream in media.streams { print(stream.id, stream.content) }
/// ```
///
/// A `decodebin` reads the beginning of the stream, with whatever elements are installed, so that decoders open too.
public struct Discoverer: Sendable {
  /// The longest time for one discovery; 1 second to 1 hour.
  public let timeout: ClockTime

  /// A discoverer.
  /// - Parameter timeout: how long one discovery may take, limited to 1 second to 1 hour.
  public init(timeout: ClockTime = .seconds(15)) {
    self.timeout = min(max(timeout, .second), .seconds(3600))
  }

  /// Discovers the media at a URI; `Runtime.uri(ofFile:)` returns the URI of a file.
  ///
  /// - Throws: `invalidURI`, `timedOut`, `failed` if the URI has nothing or nothing that an element recognizes, and
  ///   `cancelled` when the task is cancelled, which ends the discovery.
  public func media(at uri: String) async throws(DiscoveryError) -> DiscoveredMedia {
    Runtime.initialise()
    guard unsafe gst_uri_is_valid(uri) != 0 else { throw .invalidURI(uri) }
    let discovery = Discovery(of: uri, timeout: timeout)
    let result = await withTaskCancellationHandler {
      await onThread("discoverer") { discovery.run() }
    } onCancel: {
      discovery.cancel()
    }
    return try result.get()
  }

  /// Discovers the media at several URIs, one after the other.
  public func media(at uris: [String]) -> Results { Results(discoverer: self, uris: uris) }

  /// The results for several URIs, in their order. A failure does not end the sequence; cancelling its task does.
  public struct Results: AsyncSequence, Sendable {
    /// A URI, and the media at it.
    public typealias Element = (uri: String, result: Result<DiscoveredMedia, DiscoveryError>)
    /// Iteration throws no error.
    public typealias Failure = Never

    let discoverer: Discoverer
    let uris: [String]

    /// An iterator that begins at the first URI.
    public func makeAsyncIterator() -> Iterator { Iterator(discoverer: discoverer, uris: uris[...]) }

    /// Discovers one URI after the other.
    public struct Iterator: AsyncIteratorProtocol {
      let discoverer: Discoverer
      var uris: ArraySlice<String>

      /// Discovers the media at the next URI; `nil` after the last, and once the task is cancelled.
      public mutating func next(isolation: isolated (any Actor)? = #isolation) async -> Element? {
        guard !Task.isCancelled, let uri = uris.popFirst() else { return nil }
        do throws(DiscoveryError) {
          return (uri, .success(try await discoverer.media(at: uri)))
        } catch {
          return error == .cancelled ? nil : (uri, .failure(error))
        }
      }
    }
  }
}

/// One discovery, which runs on a thread of its own and in a main context of its own.
@safe private final class Discovery: @unchecked Sendable {
  // Never changed, and any thread may wake the context.
  private let context = unsafe g_main_context_new()
  private let uri: String
  private let timeout: ClockTime
  private let state = Mutex((isCancelled: false, result: Result<DiscoveredMedia, DiscoveryError>?.none))

  init(of uri: String, timeout: ClockTime) { (self.uri, self.timeout) = (uri, timeout) }

  deinit { unsafe g_main_context_unref(context) }

  func cancel() {
    state.withLock { $0.isCancelled = true }
    unsafe g_main_context_wakeup(context)
  }

  /// The discoverer reports by its thread's default context, which no other code iterates.
  func run() -> Result<DiscoveredMedia, DiscoveryError> {
    unsafe g_main_context_push_thread_default(context)
    defer { unsafe g_main_context_pop_thread_default(context) }
    var error: UnsafeMutablePointer<GError>?
    guard let discoverer = unsafe gst_discoverer_new(GstClockTime(timeout.nanoseconds), &error) else {
      defer { unsafe g_clear_error(&error) }
      return .failure(.failed(uri: uri, reason: unsafe Self.text(error)))
    }
    defer { unsafe g_object_unref(discoverer) }
    unsafe cgst_discoverer_connect(
      discoverer,
      { _, info, error, data in
        guard let data = unsafe data else { return }
        unsafe Unmanaged<Discovery>.fromOpaque(data).takeUnretainedValue().take(info, error)
      }, Unmanaged.passUnretained(self).toOpaque())
    unsafe gst_discoverer_start(discoverer)
    defer { unsafe gst_discoverer_stop(discoverer) }
    guard unsafe gst_discoverer_discover_uri_async(discoverer, uri) != 0 else { return .failure(.invalidURI(uri)) }
    while true {
      let (isCancelled, result) = state.withLock(\.self)
      if let result { return result }
      if isCancelled { return .failure(.cancelled) }
      unsafe g_main_context_iteration(context, 1)
    }
  }

  private func take(_ info: OpaquePointer?, _ error: UnsafeMutablePointer<GError>?) {
    let result = unsafe result(of: info, error)
    state.withLock { $0.result = result }
  }

  private func result(
    of info: OpaquePointer?, _ error: UnsafeMutablePointer<GError>?
  ) -> Result<DiscoveredMedia, DiscoveryError> {
    guard let info = unsafe info else { return .failure(.failed(uri: uri, reason: unsafe Self.text(error))) }
    switch unsafe gst_discoverer_info_get_result(info) {
    case GST_DISCOVERER_OK: return .success(unsafe DiscoveredMedia(info))
    case GST_DISCOVERER_MISSING_PLUGINS:
      let media = unsafe DiscoveredMedia(info)
      // Without a stream, only the missing elements can be reported.
      guard media.streams.isEmpty else { return .success(media) }
      return .failure(.failed(uri: uri, reason: unsafe Self.text(error)))
    case GST_DISCOVERER_URI_INVALID: return .failure(.invalidURI(uri))
    case GST_DISCOVERER_TIMEOUT: return .failure(.timedOut(uri: uri))
    default: return .failure(.failed(uri: uri, reason: unsafe Self.text(error)))
    }
  }

  private static func text(_ error: UnsafeMutablePointer<GError>?) -> String {
    unsafe error.map { unsafe String(cString: $0.pointee.message) } ?? "its format is unknown"
  }
}

/// The reason a discovery fails.
public enum DiscoveryError: Error, Hashable, Sendable {
  /// It is no URI.
  case invalidURI(String)
  /// It cannot be read, or no element recognizes it; with the reason.
  case failed(uri: String, reason: String)
  /// It took longer than allowed.
  case timedOut(uri: String)
  /// The task was cancelled.
  case cancelled
}

extension DiscoveryError: CustomStringConvertible {
  /// One sentence for users.
  public var description: String {
    switch self {
    case .invalidURI(let uri): "“\(uri)” is not a URI"
    case .failed(let uri, let reason): "\(uri): \(reason)"
    case .timedOut(let uri): "\(uri): discovery took too long"
    case .cancelled: "cancelled"
    }
  }
}
