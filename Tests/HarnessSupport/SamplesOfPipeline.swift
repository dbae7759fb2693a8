// SPDX-License-Identifier: MPL-2.0
public import GStreamer

/// The samples that come out of a pipeline, as on a gst-launch-1.0 line without a sink.
public func samples(of description: String) async throws -> [Sample] {
  Harness.initialise()
  let pipeline = try Pipeline("\(description) ! appsink name=samples sync=false")
  let sink = try pipeline.appSink("samples")
  try await pipeline.play()
  var samples: [Sample] = []
  for try await sample in sink { samples.append(sample) }
  await pipeline.stop()
  return samples
}
