// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import H26x

fuzz { EditSubject<H265>.run($0) }
