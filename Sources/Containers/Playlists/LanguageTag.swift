// SPDX-License-Identifier: MPL-2.0

extension Language {
  /// The tag of a language by the metadata of a container: its shortest code (RFC 5646, 2.2.1). `nil` for other text.
  static func tag(_ code: String) -> String? {
    let code = code.lowercased()
    if let short = tags[code] { return short }
    let parts = code.split(separator: "-", omittingEmptySubsequences: false)
    let isTag = parts.allSatisfy { part in
      1...8 ~= part.utf8.count && part.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
    }
    return isTag && code.utf8.count >= 2 && code != "und" ? code : nil
  }

  /// The codes of two letters (ISO 639-1), by the codes of three letters (ISO 639-2).
  private static let tags: [String: String] = {
    var tags: [String: String] = [:]
    for pair in codes.split(separator: " ") { tags[String(pair.prefix(3))] = String(pair.suffix(2)) }
    for (terminological, code) in bibliographic { tags[code] = tags[terminological] }
    return tags
  }()

  /// A terminological code of three letters and the code of two letters for each language.
  private static let codes = """
    aaraa abkab afraf akaak amham araar argan asmas avaav aveae aymay azeaz bakba bambm belbe benbn bihbh bisbi \
    bodbo bosbs brebr bulbg catca cescs chach chece chucu chvcv corkw cosco crecr cymcy danda deude divdv dzodz \
    ellel engen epoeo estet euseu eweee faofo fasfa fijfj finfi frafr fryfy fulff glagd glega glggl glvgv grngn \
    gujgu hatht hauha hebhe herhz hinhi hmoho hrvhr hunhu hyehy iboig idoio iiiii ikuiu ileie inaia indid ipkik \
    islis itait javjv jpnja kalkl kankn kasks katka kaukr kazkk khmkm kikki kinrw kirky komkv konkg korko kuakj \
    kurku laolo latla lavlv limli linln litlt ltzlb lublu luglg mahmh malml marmr mkdmk mlgmg mltmt monmn mrimi \
    msams myamy nauna navnv nblnr ndend ndong nepne nldnl nnonn nobnb norno nyany ocioc ojioj orior ormom ossos \
    panpa plipi polpl porpt pusps quequ rohrm ronro runrn rusru sagsg sansa sinsi slksk slvsl smese smosm snasn \
    sndsd somso sotst spaes sqisq srdsc srpsr sswss sunsu swasw swesv tahty tamta tattt telte tgktg tgltl thath \
    tirti tonto tsntn tsots tuktk turtr twitw uigug ukruk urdur uzbuz venve vievi volvo wlnwa wolwo xhoxh yidyi \
    yoryo zhaza zhozh zulzu
    """
}
