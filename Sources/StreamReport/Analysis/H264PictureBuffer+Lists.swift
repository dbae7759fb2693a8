// SPDX-License-Identifier: MPL-2.0
import H26x

extension H264PictureBuffer {
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
    var shortTerm: [Int] = []
    var longTerm: [Int] = []
    for index in frames.indices where index != firstField || !isFrame {
      let frame = frames[index]
      if isFrame ? frame.isShortTerm : frame.shortTerm != 0 { shortTerm.append(index) }
      if isFrame ? frame.isLongTerm : frame.longTerm != 0 { longTerm.append(index) }
    }
    longTerm.sort { frames[$0].longTermIndex < frames[$1].longTermIndex }
    guard isB else {
      shortTerm.sort { frames[$0].wrapped > frames[$1].wrapped }
      return (entries(shortTerm, longTerm, current: current), [])
    }
    shortTerm.removeAll { !frames[$0].exists }
    func count(_ index: Int) -> Int32 {
      orderInLists(index, isFrame: isFrame, current: current, firstField: firstField)
    }
    let past = shortTerm.filter { count($0) <= order }.sorted { count($0) > count($1) }
    let future = shortTerm.filter { count($0) > order }.sorted { count($0) < count($1) }
    let list0 = entries(past + future, longTerm, current: current)
    var list1 = entries(future + past, longTerm, current: current)
    var isSame = list1.count == list0.count
    for place in list1.indices where isSame { isSame = list0[place].order == list1[place].order }
    if list1.count > 1, isSame { list1.swapAt(0, 1) }
    return (list0, list1)
  }

  /// The POC by which a frame is sorted (8.2.4.2.4): for the second field of a frame, that of the first field.
  private func orderInLists(_ index: Int, isFrame: Bool, current: UInt8, firstField: Int?) -> Int32 {
    let frame = frames[index]
    if !isFrame, index == firstField { return frame.order(of: frame.fields & ~current) }
    return frame.order
  }

  private func entries(_ shortTerm: [Int], _ longTerm: [Int], current: UInt8) -> [Entry] {
    guard current != Fields.both else {
      return (shortTerm + longTerm).map { Entry(index: $0, order: frames[$0].order, exists: frames[$0].exists) }
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
    var list = Array(initial.prefix(count))
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
