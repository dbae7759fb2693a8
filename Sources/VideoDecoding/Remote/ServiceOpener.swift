// SPDX-License-Identifier: MPL-2.0
import AVCodec
import CodecLink

/// Opens codecs in processes of their own.
final class ServiceOpener {
  private let limits: ProcessLimits
  private let options: RemoteCodec.Options
  private let starter: CodecStarter
  /// Why no process could be begun the last time.
  private(set) var failure: ServiceError?

  init(_ limits: ProcessLimits, cancellation: Cancellation?, starter: CodecStarter = .shared) {
    self.limits = limits
    self.starter = starter
    options = RemoteCodec.Options(timeout: limits.timeout, cancellation: cancellation)
  }

  func open(_ settings: CodecSettings, _ bridge: PictureBridge) throws(AVError) -> any CodecBoundary {
    let service: ServiceProcess
    do throws(ServiceError) {
      service = try starter.begin(limits.request, unless: options.cancellation?.event)
      failure = nil
    } catch .cancelled {
      throw .cancelled
    } catch {
      failure = error
      throw .serviceUnavailable
    }
    return try RemoteCodec(service, settings, bridge, options)
  }
}
