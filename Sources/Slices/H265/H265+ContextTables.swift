// SPDX-License-Identifier: MPL-2.0

/// The first context variable of each syntax element.
enum ContextIndex {
  static var offsetMerge: Int { 0 }
  static var offsetType: Int { 1 }
  static var splitCodingUnit: Int { 2 }
  static var transquantBypass: Int { 5 }
  static var skip: Int { 6 }
  static var paletteMode: Int { 9 }
  static var predictionMode: Int { 10 }
  static var partMode: Int { 11 }
  static var predictedIntraMode: Int { 15 }
  static var chromaIntraMode: Int { 16 }
  static var rootCodedBlock: Int { 17 }
  static var mergeFlag: Int { 18 }
  static var mergeIndex: Int { 19 }
  static var interPrediction: Int { 20 }
  static var referenceIndex: Int { 25 }
  static var vectorPredictor: Int { 27 }
  static var splitTransform: Int { 28 }
  static var codedLuma: Int { 31 }
  static var codedChroma: Int { 33 }
  static var differenceAboveZero: Int { 38 }
  static var differenceAboveOne: Int { 39 }
  static var qpDelta: Int { 40 }
  static var transformSkip: Int { 42 }
  static var lastX: Int { 44 }
  static var lastY: Int { 62 }
  static var codedSubBlock: Int { 80 }
  static var significant: Int { 84 }
  static var aboveOne: Int { 128 }
  static var aboveTwo: Int { 152 }
  static var explicitRDPCM: Int { 158 }
  static var explicitRDPCMDirection: Int { 160 }
  static var crossComponent: Int { 162 }
  static var crossComponentSign: Int { 170 }
  static var chromaOffsetFlag: Int { 172 }
  static var chromaOffsetIndex: Int { 173 }
  static var colourTransform: Int { 174 }
  static var paletteRunPrefix: Int { 175 }
  static var copyAbove: Int { 183 }
  static var transposePalette: Int { 184 }
}

/// Context variables and the statistics that adapt Rice parameters: everything that is stored for wavefronts and
/// dependent slice segments (9.3.2.4).
struct ContextSet {
  /// The number of context variables.
  static var count: Int { 185 }

  /// The context variables, by ``ContextIndex``.
  var states: [185 of ContextState] = .init(repeating: 0)
  /// `StatCoeff`.
  var statistics: [4 of UInt8] = .init(repeating: 0)

  /// Initializes the context variables (9.3.2.2).
  ///
  /// - Parameters:
  ///   - initType: 0 to 2.
  ///   - qp: `SliceQpY`, clipped to 0 to 51.
  mutating func initialize(initType: Int, qp: Int) {
    let qp = max(0, min(qp, 51))
    let base = max(0, min(initType, 2)) &* Self.count
    for index in 0..<Self.count {
      let value = Int(Self.initialValues[base &+ index])
      let slope = (value &>> 4) &* 5 &- 45
      let offset = ((value & 15) &<< 3) &- 16
      let state = max(1, min(((slope &* qp) &>> 4) &+ offset, 126))
      // pStateIdx and valMps.
      states[index] = state <= 63 ? UInt8(63 &- state) &<< 1 : UInt8(state &- 64) &<< 1 | 1
    }
    statistics = .init(repeating: 0)
  }

  /// `initValue` by initType and ``ContextIndex`` (Tables 9-5 to 9-37 and later ones).
  private static let initialValues: [555 of UInt8] = [
    153, 200, 139, 141, 157, 154, 197, 185, 201, 154, 149, 184, 154, 154, 154, 184, 63, 79, 110, 122, 95, 79, 63, 31,
    31, 153, 153, 168, 153, 138, 138, 111, 141, 94, 138, 182, 154, 154, 140, 198, 154, 154, 139, 139, 110, 110, 124,
    125,
    140, 153, 125, 127, 140, 109, 111, 143, 127, 111, 79, 108, 123, 63, 110, 110, 124, 125, 140, 153, 125, 127, 140,
    109,
    111, 143, 127, 111, 79, 108, 123, 63, 91, 171, 134, 141, 111, 111, 125, 110, 110, 94, 124, 108, 124, 107, 125, 141,
    179, 153, 125, 107, 125, 141, 179, 153, 125, 107, 125, 141, 179, 153, 125, 140, 139, 182, 182, 152, 136, 152, 136,
    153,
    136, 139, 111, 136, 139, 111, 141, 111, 140, 92, 137, 138, 140, 152, 138, 139, 153, 74, 149, 92, 139, 107, 122, 152,
    140, 179, 166, 182, 140, 227, 122, 197, 138, 153, 136, 167, 152, 152, 139, 139, 139, 139, 154, 154, 154, 154, 154,
    154,
    154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154,
    153, 185, 107, 139, 126, 154, 197, 185, 201, 154, 149, 154, 139, 154, 154, 154, 152, 79, 110, 122, 95, 79, 63, 31,
    31, 153, 153, 168, 124, 138, 94, 153, 111, 149, 107, 167, 154, 154, 140, 198, 154, 154, 139, 139, 125, 110, 94, 110,
    95, 79, 125, 111, 110, 78, 110, 111, 111, 95, 94, 108, 123, 108, 125, 110, 94, 110, 95, 79, 125, 111, 110, 78,
    110, 111, 111, 95, 94, 108, 123, 108, 121, 140, 61, 154, 155, 154, 139, 153, 139, 123, 123, 63, 153, 166, 183, 140,
    136, 153, 154, 166, 183, 140, 136, 153, 154, 166, 183, 140, 136, 153, 154, 170, 153, 123, 123, 107, 121, 107, 121,
    167,
    151, 183, 140, 151, 183, 140, 140, 140, 154, 196, 196, 167, 154, 152, 167, 182, 182, 134, 149, 136, 153, 121, 136,
    137,
    169, 194, 166, 167, 154, 167, 137, 182, 107, 167, 91, 122, 107, 167, 139, 139, 139, 139, 154, 154, 154, 154, 154,
    154,
    154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154,
    153, 160, 107, 139, 126, 154, 197, 185, 201, 154, 134, 154, 139, 154, 154, 183, 152, 79, 154, 137, 95, 79, 63, 31,
    31, 153, 153, 168, 224, 167, 122, 153, 111, 149, 92, 167, 154, 154, 169, 198, 154, 154, 139, 139, 125, 110, 124,
    110,
    95, 94, 125, 111, 111, 79, 125, 126, 111, 111, 79, 108, 123, 93, 125, 110, 124, 110, 95, 94, 125, 111, 111, 79,
    125, 126, 111, 111, 79, 108, 123, 93, 121, 140, 61, 154, 170, 154, 139, 153, 139, 123, 123, 63, 124, 166, 183, 140,
    136, 153, 154, 166, 183, 140, 136, 153, 154, 166, 183, 140, 136, 153, 154, 170, 153, 138, 138, 122, 121, 122, 121,
    167,
    151, 183, 140, 151, 183, 140, 140, 140, 154, 196, 167, 167, 154, 152, 167, 182, 182, 134, 149, 136, 153, 121, 136,
    122,
    169, 208, 166, 167, 154, 152, 167, 182, 107, 167, 91, 107, 107, 167, 139, 139, 139, 139, 154, 154, 154, 154, 154,
    154,
    154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154, 154,
  ]
}
