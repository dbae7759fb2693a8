// SPDX-License-Identifier: MPL-2.0

extension PipelineElement {
  /// The Swift object of a source that this module's user has written; nil for an element of another class.
  package func source<Source: BaseSource>(as type: Source.Type) -> Source? {
    guard let record = unsafe ElementRecord.of(UnsafeRawPointer(raw)), record.type == type else { return nil }
    return unsafe swiftObject(
      UnsafeMutableRawPointer(raw), behind: record.instanceSize, as: BaseSource.self) as? Source
  }
}
