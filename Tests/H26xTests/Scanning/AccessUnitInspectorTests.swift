// SPDX-License-Identifier: MPL-2.0
import TestSupport
import Testing

@testable import H26x

@Suite struct AccessUnitInspectorTests {
  @Test func findsRandomAccessAndParameterSets() throws {
    let sps = Samples.highSPS
    let prefix: [UInt8] = [0, 0, 0, 1]
    let recovery = seiNALUnit([(.recoveryPoint, [0xC4])])
    let unit = prefix + [9, 0xF0] + prefix + sps + prefix + Samples.highPPS + prefix + recovery
    var inspector = H264.AccessUnitInspector()
    let first = inspector.inspect(unit.span, packaging: .annexB)
    #expect(first.hasParameterSets && first.changesParameterSets && !first.hasPicture)
    #expect(first.nalUnitCount == 4)
    #expect(first.seiRanges.map { Array(unit[$0]) } == [recovery])
    guard case .recoveryPoint(let point) = first.randomAccess else {
      Issue.record("no recovery point")
      return
    }
    #expect(point.isExactMatch)
    let again = inspector.inspect(unit.span, packaging: .annexB)
    #expect(again.hasParameterSets && !again.changesParameterSets)
  }

  @Test func pairsFields() throws {
    var inspector = H264.AccessUnitInspector(parameterSets: try SliceBuilder.sets())
    let top = SliceBuilder(type: 5, sliceType: 2, isField: true)
    let bottom = SliceBuilder(sliceType: 0, isField: true, isBottom: true, lsb: 1)
    var seconds: [Bool] = []
    var lone = bottom
    lone.frameNumber = 1
    for builder in [top, bottom, lone, top, top, bottom, bottom] {
      let unit = [0, 0, 0, 1] + builder.nalUnit()
      seconds.append(inspector.inspect(unit.span, packaging: .annexB).isSecondField)
    }
    #expect(seconds == [false, true, false, false, false, true, false])
  }

  @Test func reportsABadLength() {
    var inspector = H264.AccessUnitInspector()
    let packet: [UInt8] = [0, 0, 0, 2, 9, 0xF0, 0, 0, 1, 0, 1]
    let info = inspector.inspect(packet.span, packaging: .lengthPrefixed(.four))
    #expect(info.nalUnitCount == 1)
    #expect(info.error?.reason == .lengthOutOfBounds)
  }
}
