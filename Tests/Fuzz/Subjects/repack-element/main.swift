// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import FuzzHarness

private let subject = ElementSubject(
  element: "swifth264repack",
  settings: [
    "", "nal-length-size=1", "nal-length-size=2", "insert-parameter-sets=never", "insert-parameter-sets=changes",
    "insert-aud=true", "drop=sei+aud+filler", "drop=parameter-sets",
    "insert-captions=true remove-caption-meta=true", "insert-captions=true caption-meta-order=display",
  ],
  outputs: [
    "video/x-h264, stream-format=avc, alignment=au", "video/x-h264, stream-format=avc3, alignment=au",
    "video/x-h264, stream-format=byte-stream, alignment=au", "video/x-h264, stream-format=byte-stream, alignment=nal",
    "video/x-h264", "video/x-h264, stream-format=avc",
  ])

fuzz { subject.run($0) }
