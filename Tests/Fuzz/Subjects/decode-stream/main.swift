// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import FuzzHarness
import TestSupport

fuzz { DecodedStreamSubject<RandomH264Stream>.run($0, element: "swifth264dec", mediaType: "video/x-h264") }
