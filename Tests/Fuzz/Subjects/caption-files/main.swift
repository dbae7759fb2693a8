// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import TestSupport

// Reads caption files in MCC and SCC.
fuzz { bytes in
  let defect = CaptionFileRoundTrip.defect(bytes)
  require(defect == nil, defect ?? "")
}
