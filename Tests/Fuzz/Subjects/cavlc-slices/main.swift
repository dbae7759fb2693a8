// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import FuzzSlices

// The slice data of H.264 without arithmetic coding.
fuzz { bytes in SliceDataSubject.readH264(bytes, isArithmetic: false) }
