// SPDX-License-Identifier: MPL-2.0
import Testing

@Suite struct ToolTests {}
