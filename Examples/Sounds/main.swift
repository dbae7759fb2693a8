// SPDX-License-Identifier: MPL-2.0
// Mixes two tones, fades them in, codes and decodes the sound, and compares, by elements of this program: sounds
import GStreamer

try ToneSource.register(as: "tonesrc", typeName: "ExampleToneSource", rank: .primary)
try Mixer.register(as: "mixer", typeName: "ExampleMixer")
try Fade.register(as: "fade", typeName: "ExampleFade")
try DifferencesEncoder.register(as: "differencesenc", typeName: "ExampleDifferencesEncoder")
try DifferencesDecoder.register(as: "differencesdec", typeName: "ExampleDifferencesDecoder")

let pipeline = try Pipeline(
  """
  urisourcebin uri=tone:440 ! wavparse ! mixer.  urisourcebin uri=tone:660 ! wavparse ! mixer.
  mixer name=mixer ! fade ! tee name=sound
  sound. ! queue ! appsink name=before sync=false
  sound. ! queue ! differencesenc ! tee name=coded
  coded. ! queue ! appsink name=between sync=false  coded. ! queue ! differencesdec ! appsink name=after sync=false
  """)
async let before = all(of: pipeline.appSink("before"))
async let between = all(of: pipeline.appSink("between"))
async let after = all(of: pipeline.appSink("after"))
try await pipeline.play()
let (sound, code, copy) = try await (before, between, after)
await pipeline.stop()
print("\(sound.count) bytes as \(code.count), \(sound == copy ? "the same" : "another sound")")
for tenth in 0..<10 {
  let part = sound.dropFirst(tenth * 1600).prefix(1600)
  guard let buffer = Buffer(copying: Array(part).span) else { continue }
  print("0.\(tenth) s", String(repeating: "#", count: try samples(in: buffer).reduce(0) { max($0, abs($1)) } / 500))
}

func all(of sink: AppSink) async throws -> [UInt8] {
  var bytes: [UInt8] = []
  for try await sample in sink { bytes += try sample.copiedBytes() }
  return bytes
}
