// SPDX-License-Identifier: MPL-2.0

/// The syntax of ITU-T H.264. Clause numbers refer to the edition of 2021-08.
public enum H264: Sendable {}

/// The syntax of ITU-T H.265. Clause numbers refer to the edition of 2023-09.
public enum H265: Sendable {}
