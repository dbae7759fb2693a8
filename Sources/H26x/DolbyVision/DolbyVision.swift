// SPDX-License-Identifier: MPL-2.0

/// Dolby Vision: metadata in NAL units (RPU; ETSI GS CCM 001), and the record by which containers announce it.
public enum DolbyVision {}
