// SPDX-License-Identifier: MPL-2.0
// Shows what files or URIs have, or which cameras and microphones there are: media [FILE OR URI …]
import GStreamer
import GStreamerDiscovery

let places = CommandLine.arguments.dropFirst().map { $0.contains(":") ? $0 : Runtime.uri(ofFile: $0) ?? $0 }
if places.isEmpty {
  await list(devicesOf: "Video/Source")
  await list(devicesOf: "Audio/Source")
}
for await (uri, result) in Discoverer().media(at: places) {
  switch result {
  case .success(let media):
    print(uri, media.duration.map { "\(Duration($0))" } ?? "of unknown length", media.isSeekable ? "seekable" : "")
    for stream in media.streams { print("  \(stream.content)", stream.caps?.mediaType ?? "") }
    for missing in media.missingElements { print("  missing: \(missing)") }
  case .failure(let error): print(error)
  }
}

func list(devicesOf classes: String) async {
  do throws(DeviceError) {
    let devices = try await DeviceMonitor(classes).devices()
    print("\(classes): \(devices.count)")
    for device in devices { print("  \(device.displayName)") }
  } catch { print(error) }
}
