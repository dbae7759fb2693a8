// SPDX-License-Identifier: MPL-2.0
import FuzzDriver
import FuzzSession
import TestSupport

fuzz { SessionSubject<RandomH265Stream>.run($0) }
