// SPDX-License-Identifier: MPL-2.0
import H26x

extension H264DecodedPictureBuffer {
  /// An entry of a reference picture list: a frame, or a field of one.
  struct Entry: Sendable {
    var index: Int
    var order: Int32
    var exists: Bool
  }

  /// Initial reference picture list 0 of a P slice, or 0 and 1 of a B slice (8.2.4.2).
  ///
  /// - Parameters:
  ///   - current: the fields of the current picture.
  ///   - order: its POC.
  ///   - firstField: the index of the frame whose second field the current picture is; nil for another picture.
  func initialLists(isB: Bool, current: UInt8, order: Int32, firstField: Int?) -> ([Entry], [Entry]) {
    let isFrame = current == Fields.both
    let longTerm = sorted { frame, _ in
      (isFrame ? frame.isLongTerm : frame.longTerm != 0) ? Int64(frame.longTermIndex) : nil
    }
    func isShortTerm(_ frame: Frame) -> Bool { isFrame ? frame.isShortTerm : frame.shortTerm != 0 }
    guard isB else {
      let shortTerm = sorted { frame, _ in isShortTerm(frame) ? -frame.wrapped : nil }
      return (entries(shortTerm, longTerm, current: current), [])
    }
    /// The distance in POC, negative for a frame in the past (8.2.4.2.3); nil for one that is not in the lists. For
    /// the second field of a frame, the first field's POC counts (8.2.4.2.4).
    func distance(_ frame: Frame, _ index: Int) -> Int64? {
      guard isShortTerm(frame), frame.exists else { return nil }
      let count = !isFrame && index == firstField ? frame.order(of: frame.fields & ~current) : frame.order
      return Int64(count) - Int64(order)
    }
    // Beyond every distance between two POCs.
    let far = Int64(1) << 33
    let past = sorted { frame, index in distance(frame, index).map { $0 <= 0 ? -$0 : far + $0 } }
    let future = sorted { frame, index in distance(frame, index).map { $0 > 0 ? $0 : far - $0 } }
    let list0 = entries(past, longTerm, current: current)
    var list1 = entries(future, longTerm, current: current)
    var isSame = list1.count == list0.count
    for place in list1.indices where isSame { isSame = list0[place].order == list1[place].order }
    if list1.count > 1, isSame { list1.swapAt(0, 1) }
    return (list0, list1)
  }

  /// The indices of the frames that have a key, in ascending order of it; in decoding order if it is the same.
  private func sorted(by key: (Frame, Int) -> Int64?) -> [Int] {
    var keys: [32 of Int64] = .init(repeating: 0)
    var result: [Int] = []
    result.reserveCapacity(frames.count)
    for index in frames.indices.prefix(keys.count) {
      guard let wanted = key(frames[index], index) else { continue }
      var place = result.count
      while place > 0, keys[place - 1] > wanted { place -= 1 }
      var last = result.count
      while last > place {
        keys[last] = keys[last - 1]
        last -= 1
      }
      keys[place] = wanted
      result.insert(index, at: place)
    }
    return result
  }

  private func entries(_ shortTerm: [Int], _ longTerm: [Int], current: UInt8) -> [Entry] {
    guard current != Fields.both else {
      var list: [Entry] = []
      list.reserveCapacity(shortTerm.count + longTerm.count)
      for index in shortTerm { list.append(entry(index)) }
      for index in longTerm { list.append(entry(index)) }
      return list
    }
    return alternate(shortTerm, current) { $0.shortTerm } + alternate(longTerm, current) { $0.longTerm }
  }

  /// Alternates fields of the same and of the opposite parity, then appends the rest (8.2.4.2.5).
  private func alternate(_ list: [Int], _ current: UInt8, _ marks: (Frame) -> UInt8) -> [Entry] {
    var result: [Entry] = []
    var parity = current
    var places: [2 of Int] = [0, 0]
    while true {
      let side = parity == current ? 0 : 1
      var place = places[side]
      while place < list.count, marks(frames[list[place]]) & parity == 0 { place += 1 }
      guard place < list.count else { break }
      result.append(entry(list[place], parity))
      places[side] = place + 1
      parity ^= Fields.both
    }
    parity ^= Fields.both
    let side = parity == current ? 0 : 1
    for place in min(places[side], list.count)..<list.count where marks(frames[list[place]]) & parity != 0 {
      result.append(entry(list[place], parity))
    }
    return result
  }

  private func entry(_ index: Int) -> Entry {
    Entry(index: index, order: frames[index].order, exists: frames[index].exists)
  }

  private func entry(_ index: Int, _ field: UInt8) -> Entry {
    Entry(index: index, order: frames[index].order(of: field), exists: frames[index].exists)
  }

  /// Applies `ref_pic_list_modification()` (8.2.4.3).
  ///
  /// - Returns: the list, and the picture numbers that it names and that are missing.
  func modified(
    _ initial: [Entry], by steps: [H264.ReferenceSyntax.ListModification], count: Int, current: UInt8,
    frameNumber: UInt32, maximum: UInt32
  ) -> (list: [Entry], missing: [Int64]) {
    var list = initial.count > count ? Array(initial.prefix(count)) : initial
    var missing: [Int64] = []
    let isFrame = current == Fields.both
    let currentNumber = isFrame ? Int64(frameNumber) : 2 * Int64(frameNumber) + 1
    let modulus = isFrame ? Int64(maximum) : 2 * Int64(maximum)
    var predicted = currentNumber
    for (place, step) in steps.enumerated() {
      let found: (index: Int, fields: UInt8)?
      let number: Int64
      switch step.operation {
      case 0, 1:
        let distance = (Int64(step.value) + 1) % modulus
        predicted = step.operation == 0 ? predicted - distance : predicted + distance
        if predicted < 0 { predicted += modulus }
        if predicted >= modulus { predicted -= modulus }
        number = predicted > currentNumber ? predicted - modulus : predicted
        found = shortTerm(number, current: current)
      case 2:
        number = Int64(step.value)
        found = longTerm(number, current: current)
      default: continue
      }
      guard let found, frames[found.index].exists else {
        missing.append(number)
        continue
      }
      let order = isFrame ? frames[found.index].order : frames[found.index].order(of: found.fields)
      // Later entries for the same picture are removed.
      let isSame = { (entry: Entry) in entry.index == found.index && entry.order == order }
      var rest = Array(list.dropFirst(min(place, list.count)))
      rest.removeAll(where: isSame)
      list = Array(list.prefix(place)) + [Entry(index: found.index, order: order, exists: true)] + rest
      if list.count > count { list.removeLast(list.count - count) }
    }
    return (list, missing)
  }
}
