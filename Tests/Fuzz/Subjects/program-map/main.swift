// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import TestSupport

// Adds the record of Dolby Vision to the program maps of any bytes, or of sections with any content.
fuzz { bytes in
  let defect = RewrittenProgramMap.defect(bytes)
  require(defect == nil, defect ?? "")
}
