// SPDX-License-Identifier: MPL-2.0
import CGStreamer

/// A kind of metadata of one's own, which buffers carry through a pipeline (`GstCustomMeta`, gst/gstmeta.h): named
/// fields.
///
/// ```swift
/// let temperature = try CustomMeta(registering: "ExampleTemperature")
/// buffer.set(temperature, ["celsius": 21.5])
/// let fields = buffer.fields(of: temperature)
/// ```
///
/// Elements that copy a buffer copy its metadata too. Elements that make another buffer, such as decoders and filters
/// that change the format, keep only some. They keep metadata without tags, or with tags that they do not affect.
public struct CustomMeta: Hashable, Sendable {
  /// The name, unique in the process.
  public let name: String

  /// Registers a kind of metadata, or finds the kind that was registered under this name.
  ///
  /// - Parameters:
  ///   - name: three characters or more of letters, digits, `-`, `_` and `+`, of which the first is a letter. It
  ///     should begin with the name of the program or plugin; names that begin with `Gst` are GStreamer's.
  ///   - tags: the properties that the metadata depends on. Elements that change such a property drop the metadata:
  ///     `size`, `orientation`, `colorspace`, `video`, `audio`, `memory` (gst/video/gstvideometa.h). None by default.
  /// - Throws: `invalidTypeName`, or `typeNameTaken` by something else.
  public init(registering name: String, tags: [String] = []) throws(RegistrationError) {
    _ = isGStreamerReady
    guard ObjectName.isType(name), name.utf8.first != UInt8(ascii: "_") else { throw .invalidTypeName(name) }
    let isKnown = Self.registration.withLock { _ in
      if let known = unsafe gst_meta_get_info(name) { return unsafe gst_meta_info_is_custom(known) != 0 }
      // GStreamer registers its kinds at their first use, and fails if the name is taken.
      guard !name.hasPrefix("Gst") else { return false }
      // GObject's types of the metadata and of its interface.
      guard unsafe g_type_from_name(name) == 0, unsafe g_type_from_name("\(name)-api") == 0 else { return false }
      var list = unsafe tags.map { unsafe UnsafePointer(g_strdup($0)) } + [nil]
      // GStreamer has copies of the tags.
      defer { for index in tags.indices { unsafe g_free(UnsafeMutableRawPointer(mutating: list[index])) } }
      return unsafe gst_meta_register_custom(name, &list, nil, nil, nil) != nil
    }
    guard isKnown else { throw .typeNameTaken(name) }
    self.name = name
  }

  /// Held from the look for a name until it is registered.
  private static let registration = Locked(())
}

extension Buffer {
  /// The interface that kinds of metadata have in common (`GstMetaInfo.api`), by the name of its GType.
  public struct MetaInterface: RawRepresentable, Hashable, Sendable {
    /// The name of the GType, such as `GstVideoMetaAPI`.
    public let rawValue: String
    /// The interface of this name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The interface of metadata of one's own.
    public init(_ kind: CustomMeta) { rawValue = "\(kind.name)-api" }

    /// The places of a picture's planes (`GstVideoMeta`).
    public static var video: Self { Self(rawValue: "GstVideoMetaAPI") }
    /// The part of a picture that is shown (`GstVideoCropMeta`).
    public static var videoCrop: Self { Self(rawValue: "GstVideoCropMetaAPI") }
    /// A region of interest (`GstVideoRegionOfInterestMeta`).
    public static var regionOfInterest: Self { Self(rawValue: "GstVideoRegionOfInterestMetaAPI") }
    /// Closed captions (`GstVideoCaptionMeta`).
    public static var captions: Self { Self(rawValue: "GstVideoCaptionMetaAPI") }
    /// A time code (`GstVideoTimeCodeMeta`).
    public static var timeCode: Self { Self(rawValue: "GstVideoTimeCodeMetaAPI") }
    /// A time by another clock, such as a sender's (`GstReferenceTimestampMeta`).
    public static var referenceTimestamp: Self { Self(rawValue: "GstReferenceTimestampMetaAPI") }

    /// 0 for one that no library has registered.
    var type: GType { unsafe g_type_from_name(rawValue) }
  }

  /// One piece of metadata, as it was when it was read.
  public struct Meta: Sendable {
    /// The interface that it implements.
    public var interface: MetaInterface
    /// The name of its implementation, such as `GstVideoMeta`, or of the ``CustomMeta``.
    public var name: String
    /// The properties it depends on, such as `size`.
    public var tags: [String]
    /// Whether it cannot be removed, as metadata that a pool has added.
    public var isLocked: Bool
    /// The fields of a ``CustomMeta``; `nil` for metadata in C.
    public var fields: Fields?

    @unsafe fileprivate init(_ raw: UnsafeMutablePointer<GstMeta>) {
      let info = unsafe raw.pointee.info!
      interface = MetaInterface(rawValue: unsafe Self.typeName(info.pointee.api))
      name = unsafe Self.typeName(info.pointee.type)
      tags = []
      var next = unsafe gst_meta_api_type_get_tags(info.pointee.api)
      while let tag = unsafe next?.pointee {
        unsafe tags.append(String(cString: tag))
        unsafe next = next.map { unsafe $0 + 1 }
      }
      isLocked = unsafe raw.pointee.flags.rawValue & GST_META_FLAG_LOCKED.rawValue != 0
      if unsafe gst_meta_info_is_custom(info) != 0 {
        let custom = unsafe UnsafeMutableRawPointer(raw).assumingMemoryBound(to: GstCustomMeta.self)
        fields = unsafe Fields(copying: gst_custom_meta_get_structure(custom).map { unsafe UnsafePointer($0) })
      }
    }

    private static func typeName(_ type: GType) -> String {
      unsafe g_type_name(type).map { unsafe String(cString: $0) } ?? ""
    }
  }

  /// All metadata of the buffer, in the order in which it was added.
  public var metas: [Meta] { unsafe rawMetas.map { unsafe Meta($0) } }

  /// The metadata with an interface.
  public borrowing func metas(with interface: MetaInterface) -> [Meta] {
    unsafe rawMetas.filter { unsafe $0.pointee.info.pointee.api == interface.type }.map { unsafe Meta($0) }
  }

  private var rawMetas: [UnsafeMutablePointer<GstMeta>] {
    var metas: [UnsafeMutablePointer<GstMeta>] = unsafe []
    var state: gpointer?
    while let meta = unsafe gst_buffer_iterate_meta(raw, &state) { unsafe metas.append(meta) }
    return unsafe metas
  }

  /// The fields that the buffer has of a kind of metadata; `nil` when it has none.
  public borrowing func fields(of kind: CustomMeta) -> Fields? {
    guard let meta = unsafe gst_buffer_get_custom_meta(raw, kind.name) else { return nil }
    return unsafe Fields(copying: gst_custom_meta_get_structure(meta).map { unsafe UnsafePointer($0) })
  }

  /// Sets fields of a kind of metadata, and adds the metadata if the buffer has none. Other fields stay as they are.
  public mutating func set(_ kind: CustomMeta, _ fields: KeyValuePairs<String, FieldValue>) {
    makeWritable()
    let known = unsafe gst_buffer_get_custom_meta(raw, kind.name)
    guard let meta = unsafe known ?? gst_buffer_add_custom_meta(raw, kind.name),
      let structure = unsafe gst_custom_meta_get_structure(meta)
    else { return }
    for (name, value) in fields { unsafe value.set(on: structure, name: name) }
  }

  /// Removes metadata that is not locked.
  /// - Parameter isRemoved: whether it is removed.
  /// - Returns: how many were.
  @discardableResult
  public mutating func removeMetas(where isRemoved: (Meta) -> Bool) -> Int {
    makeWritable()
    var count = 0
    let metas = unsafe rawMetas
    for index in unsafe metas.indices {
      let meta = unsafe Meta(metas[index])
      if !meta.isLocked, isRemoved(meta), unsafe gst_buffer_remove_meta(raw, metas[index]) != 0 { count += 1 }
    }
    return count
  }

  /// Removes the metadata with an interface, as far as it is not locked.
  /// - Returns: how many were.
  @discardableResult
  public mutating func removeMetas(with interface: MetaInterface) -> Int {
    removeMetas { $0.interface == interface }
  }
}
