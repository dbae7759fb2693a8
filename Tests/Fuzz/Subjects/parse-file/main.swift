// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import FuzzHarness

fuzz { comparePulled($0, codec: 264) }
