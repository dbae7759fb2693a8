// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import TestSupport

// Rewrites the parameter sets and slices of a byte stream.
fuzz { bytes in
  let defect = RewrittenStream.defectOfH264(bytes)
  require(defect == nil, defect ?? "")
}
