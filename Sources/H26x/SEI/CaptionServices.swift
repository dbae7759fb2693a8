// SPDX-License-Identifier: MPL-2.0

/// The caption services of a stream: CC1 to CC4, T1 to T4 and XDS of CTA-608, and the services of CTA-708.
///
/// Add the triplets of all pictures in presentation order. In decoding order, pairs and packets are torn apart.
public struct CaptionServices: Sendable, Hashable {
  /// A service.
  public enum Service: Sendable, Hashable {
    /// A caption channel of CTA-608, 1 to 4.
    case caption(UInt8)
    /// A text channel of CTA-608, 1 to 4.
    case text(UInt8)
    /// Extended Data Services of CTA-608.
    case extendedData
    /// A service of CTA-708, 1 to 63.
    case digital(UInt8)
    /// All of field 1 of CTA-608, which service descriptors describe as one.
    case field1
    /// All of field 2 of CTA-608.
    case field2

    /// "CC1", "T1", "XDS", "service 1", "field 1".
    public var name: String {
      switch self {
      case .caption(let number): "CC\(number)"
      case .text(let number): "T\(number)"
      case .extendedData: "XDS"
      case .digital(let number): "service \(number)"
      case .field1: "field 1"
      case .field2: "field 2"
      }
    }

    /// The order in lists: CC1 to CC4, T1 to T4, XDS, services.
    fileprivate var index: Int {
      switch self {
      case .caption(let number): Int(number)
      case .text(let number): 8 + Int(number)
      case .extendedData: 16
      case .digital(let number): 32 + Int(number)
      case .field1: 300
      case .field2: 301
      }
    }

    /// The service of an index; the inverse of ``index``.
    fileprivate init?(index: Int) {
      switch index {
      case 1...4: self = .caption(UInt8(index))
      case 9...12: self = .text(UInt8(index - 8))
      case 16: self = .extendedData
      case 33...95: self = .digital(UInt8(index - 32))
      default: return nil
      }
    }
  }

  /// Whether each service has captions, by its index.
  private var present = [Bool](repeating: false, count: 96)
  private var fields = [Field(), Field()]
  private var assembler = CaptionPacketAssembler()
  /// The languages by index of the service: three letters in the lowest bytes.
  private var languages: [Int: UInt32] = [:]

  /// The state of a field of CTA-608.
  private struct Field: Sendable, Hashable {
    /// The channel of the last control code: 0 or 1; nil before the first one.
    var channel: UInt8?
    /// The channel's characters are text, not captions.
    var isText = [false, false]
    /// Characters are those of an XDS packet.
    var isExtendedData = false
  }

  /// Creates one without services.
  public init() {}

  /// The services with captions so far: CC1 to CC4, T1 to T4, XDS, then the services of CTA-708.
  public var services: [Service] { present.indices.compactMap { present[$0] ? Service(index: $0) : nil } }

  /// The language of a service by the last descriptor, such as "eng"; nil without one.
  public func language(of service: Service) -> String? {
    var letters = languages[service.index]
    switch service {
    case .caption(let number), .text(let number):
      letters = letters ?? languages[(number <= 2 ? Service.field1 : .field2).index]
    default: break
    }
    guard let letters else { return nil }
    let bytes = [16, 8, 0].map { UInt8(truncatingIfNeeded: letters >> $0) }
    return String(decoding: bytes, as: UTF8.self)
  }

  private mutating func insert(_ service: Service) {
    if present.indices.contains(service.index) { present[service.index] = true }
  }

  // MARK: Adding

  /// Adds the captions of a picture, with the service information of a packet.
  public mutating func add(_ message: CaptionMessage) {
    switch message.content {
    case .data(let captions):
      if captions.isProcessed { add(captions.triplets) }
    case .packet(let packet, trailingBytes: _):
      for section in packet.sections {
        switch section {
        case .captions(_, let triplets): add(triplets)
        case .services(let information): add(information)
        default: break
        }
      }
    }
  }

  /// Adds the languages of service information.
  public mutating func add(_ information: CaptionDistributionPacket.ServiceInformation) {
    for service in information.services {
      guard let described = service.service, let letters = service.letters else { continue }
      languages[described.index] = letters.reduce(0) { $0 << 8 | UInt32($1) }
    }
  }

  /// Adds the triplets of a picture, in their order.
  public mutating func add(_ triplets: [CaptionTriplet]) {
    for triplet in triplets {
      switch triplet.kind {
      case .field1, .field2:
        guard triplet.isValid else { continue }
        // The eighth bit is for parity.
        addPair(triplet.first & 0x7F, triplet.second & 0x7F, field: triplet.kind == .field1 ? 0 : 1)
      case .packetData, .packetStart:
        guard let packet = assembler.add(triplet) else { continue }
        for block in packet.serviceBlocks where !block.data.isEmpty && block.number > 0 {
          insert(.digital(block.number))
        }
      }
    }
  }

  /// Adds a pair of CTA-608 without parity.
  private mutating func addPair(_ first: UInt8, _ second: UInt8, field index: Int) {
    switch first {
    case 0x01...0x0F:
      // XDS is in field 2 only; 0x0F ends a packet.
      guard index == 1 else { return }
      fields[1].isExtendedData = first != 0x0F
      insert(.extendedData)
    case 0x10...0x1F: addControl(first, second, field: index)
    case 0x20...:
      // Characters of an XDS packet, or of the channel of the last control code.
      guard !fields[index].isExtendedData, let channel = fields[index].channel else { return }
      insert(channel, field: index)
    default: break
    }
  }

  private mutating func addControl(_ first: UInt8, _ second: UInt8, field index: Int) {
    fields[index].isExtendedData = false
    let channel = first >> 3 & 1
    fields[index].channel = channel
    // Miscellaneous control codes; encoders send 0x14 in field 2, too.
    if first & 0x76 == 0x14, 0x20...0x2F ~= second {
      switch second {
      // Text restart and resume text display.
      case 0x2A, 0x2B: fields[index].isText[Int(channel)] = true
      // Resume caption loading, roll-up captions, resume direct captioning, end of caption.
      case 0x20, 0x25...0x27, 0x29, 0x2F: fields[index].isText[Int(channel)] = false
      // Erasing and the like make no service.
      default: return
      }
    }
    insert(channel, field: index)
  }

  private mutating func insert(_ channel: UInt8, field index: Int) {
    let number = UInt8(truncatingIfNeeded: 2 * index) + channel + 1
    insert(fields[index].isText[Int(channel)] ? .text(number) : .caption(number))
  }
}
