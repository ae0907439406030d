// compiles
import Default
import SwiftUI

extension Defaults.Keys {
    static let volume = Key<Double>("volume")
}

struct Radio: Sendable {
    @Stored(.volume) var volume
    @Stored(.volume, suite: MemoryDefaults()) var own
    @Stored(.volume, suite: UserDefaults.standard) var shared
}

let radio = Radio()

struct RadioView {
    @StoredBinding private var volume: Double

    init(in store: any DefaultsStore & Sendable) { _volume = Stored(.volume, suite: store) }

    var binding: Binding<Double> { $volume }
}

func bindings() -> [Binding<Double>] { [radio.$volume, radio.$own, radio.$shared] }

func useInTask() {
    Task.detached { radio.volume += radio.own }
}
