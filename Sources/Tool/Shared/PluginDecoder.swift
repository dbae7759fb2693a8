// SPDX-License-Identifier: MPL-2.0
import CodecLink
import GStreamer
import H26x
import Synchronization
import VideoDecoding

/// The plugin's decoders, which this program has decode in processes of their own.
enum PluginDecoder {
  private static let isIsolated = Mutex(true)

  /// Has all that are made from now on decode in this process.
  static func decodeInThisProcess() { isIsolated.withLock { $0 = false } }

  /// Makes one.
  static func make(_ codec: FormatDescription.Codec, name: String? = nil) throws(PipelineError) -> PipelineElement {
    let decoder = try PipelineElement("swifth\(codec.digits)dec", name: name)
    if isIsolated.withLock({ $0 }) { try decoder.set("isolation", "process") }
    return decoder
  }

  /// What protects this program from a stream that makes the codec do what somebody else wants, a line each.
  static var protection: [String] {
    do throws(ServiceError) {
      let process = try CodecStarter.begin(limits: ProcessLimits(memory: 1 << 30))
      var lines = ["Decodes in processes of \(try CodecServiceLocation.find().text)", "Behind  \(process.protection)"]
      if !process.missingProtection.isEmpty {
        lines.append("Missing here  \(process.missingProtection)")
      }
      return lines
    } catch {
      return ["Cannot decode in a process of its own: \(error)"]
    }
  }
}
