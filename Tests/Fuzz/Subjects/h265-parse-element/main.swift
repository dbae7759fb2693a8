// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import FuzzHarness

private let subject = ElementSubject(
  element: "swifth265parse",
  settings: ["", "config-interval=-1", "config-interval=1", "update-timecode=true"],
  outputs: [
    "video/x-h265", "video/x-h265, stream-format=hvc1, alignment=au", "video/x-h265, stream-format=hev1, alignment=au",
    "video/x-h265, stream-format=byte-stream, alignment=au", "video/x-h265, stream-format=byte-stream, alignment=nal",
    "video/x-h265, stream-format={hvc1, byte-stream}, profile=main-10",
  ])

fuzz { subject.run($0) }
