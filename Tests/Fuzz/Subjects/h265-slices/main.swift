// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import FuzzSlices

// The slice data of H.265.
fuzz { bytes in SliceDataSubject.readH265(bytes) }
