// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import FuzzHarness

// One thread, so that a finding depends on the input only.
private let subject = ElementSubject(
  element: "swifth264dec",
  settings: [
    "max-threads=1", "max-threads=1 output-corrupt=false", "max-threads=1 low-delay=true",
    "max-threads=1 session-retries=0 max-errors=1", "max-threads=1 max-errors=-1",
  ],
  outputs: ["video/x-raw", "video/x-raw, format=NV12", "video/x-raw, format={I420, P010_10LE}"])

fuzz { subject.run($0) }
