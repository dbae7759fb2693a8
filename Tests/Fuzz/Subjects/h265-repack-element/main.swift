// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import FuzzHarness

private let subject = ElementSubject(
  element: "swifth265repack",
  settings: [
    "", "nal-length-size=1", "nal-length-size=2", "insert-parameter-sets=never", "insert-parameter-sets=changes",
    "insert-aud=true", "drop=sei+aud+filler", "drop=parameter-sets", "cra-to-bla=true",
    "insert-captions=true remove-caption-meta=true", "insert-captions=true caption-meta-order=display",
  ],
  outputs: [
    "video/x-h265, stream-format=hvc1, alignment=au", "video/x-h265, stream-format=hev1, alignment=au",
    "video/x-h265, stream-format=byte-stream, alignment=au", "video/x-h265, stream-format=byte-stream, alignment=nal",
    "video/x-h265", "video/x-h265, stream-format=hvc1",
  ])

fuzz { subject.run($0) }
