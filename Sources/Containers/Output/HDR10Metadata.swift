// SPDX-License-Identifier: MPL-2.0
package import AVFormat
package import H26x
package import StreamReport

/// HDR10's metadata in SEI messages, which containers repeat.
package enum HDR10Metadata: CaseIterable {
  case masteringDisplay, contentLight

  /// The SEI message that has it.
  package var message: SEIPayloadType {
    switch self {
    case .masteringDisplay: .masteringDisplayColourVolume
    case .contentLight: .contentLightLevel
    }
  }

  /// The box of a sample entry that has it.
  package var box: FourCharacterCode {
    switch self {
    case .masteringDisplay: FourCharacterCode("mdcv")
    case .contentLight: FourCharacterCode("clli")
    }
  }

  /// libavformat's side data for it.
  package var sideData: SideData.Kind {
    switch self {
    case .masteringDisplay: .masteringDisplay
    case .contentLight: .contentLight
    }
  }

  /// Metadata that is no longer true in a container's copy after edits.
  package static func changed(by edits: StreamEditList) -> [Self] {
    allCases.filter { edits.affects(.sei($0.message)) }
  }
}
