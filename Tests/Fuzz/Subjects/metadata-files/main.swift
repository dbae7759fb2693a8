// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import TestSupport

// The first byte chooses the format.
fuzz { bytes in
  guard bytes.count > 0 else { return }
  let data = (1..<bytes.count).map { bytes[$0] }
  let defect =
    switch bytes[0] & 3 {
    case 0, 1: MetadataFile.defectOfHDR10Plus(data, isDocument: bytes[0] & 1 == 0)
    default: MetadataFile.defectOfDolbyVision(data)
    }
  require(defect == nil, defect ?? "")
}
