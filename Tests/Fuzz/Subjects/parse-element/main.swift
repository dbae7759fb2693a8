// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import FuzzHarness

private let subject = ElementSubject(
  element: "swifth264parse",
  settings: ["", "config-interval=-1", "config-interval=1", "update-timecode=true"],
  outputs: [
    "video/x-h264", "video/x-h264, stream-format=avc, alignment=au", "video/x-h264, stream-format=avc3, alignment=au",
    "video/x-h264, stream-format=byte-stream, alignment=au", "video/x-h264, stream-format=byte-stream, alignment=nal",
    "video/x-h264, stream-format={avc, byte-stream}, profile=main",
  ])

fuzz { subject.run($0) }
