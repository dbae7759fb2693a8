// SPDX-License-Identifier: MPL-2.0

/// Codes of languages (ISO 639-2).
enum Language {
  /// The bibliographic codes of languages that have a terminological one too, by that.
  static let bibliographic = [
    "sqi": "alb", "hye": "arm", "eus": "baq", "mya": "bur", "zho": "chi", "ces": "cze", "nld": "dut", "fra": "fre",
    "kat": "geo", "deu": "ger", "ell": "gre", "isl": "ice", "mkd": "mac", "mri": "mao", "msa": "may", "fas": "per",
    "ron": "rum", "slk": "slo", "bod": "tib", "cym": "wel",
  ]

  /// The code of a language that libavformat has in its table of QuickTime's languages: most are bibliographic.
  static func quickTime(_ code: String) -> String {
    let code = bibliographic[code] ?? code
    return ["fre": "fra", "rum": "ron", "cze": "ces", "slo": "slk"][code] ?? code
  }
}
