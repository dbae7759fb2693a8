// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import FuzzHarness
import TestSupport

fuzz { DecodedStreamSubject<RandomH265Stream>.run($0, element: "swifth265dec", mediaType: "video/x-h265") }
