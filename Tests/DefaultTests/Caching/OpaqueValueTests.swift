import Foundation
import Testing

@testable import Default

/// A struct whose parts a mirror does not show: it is one pointer's bits, which may be an object's.
private struct Opaque: Hashable {
    private let storage = Storage()

    private final class Storage: Hashable {
        static func == (lhs: Storage, rhs: Storage) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }
}

private struct Empty {}
private struct OtherEmpty {}
private struct Pair {
    var number = 1
}
private struct OtherPair {
    var number = 1
}

/// A struct whose mirror shows a part of it.
private struct HalfShown: CustomReflectable {
    var number = 1
    var hidden: Set<Int> = []
    var customMirror: Mirror { Mirror(self, children: ["number": number], displayStyle: .struct) }
}

@Suite("Two values of which not all can be seen")
struct OpaqueValueTests {
    @Test("are interchangeable only where nothing is hidden")
    func opaque() {
        let opaque = Opaque()
        #expect(!ValueSemantics.areInterchangeable(opaque, opaque))
        #expect(!ValueSemantics.areInterchangeable(Set([opaque]), Set([opaque])))
        #expect(!ValueSemantics.areInterchangeable([opaque: 1], [opaque: 1]))
        #expect(ValueSemantics.areInterchangeable(Empty(), Empty()))
        #expect(ValueSemantics.areInterchangeable([Empty()], [Empty()]))
        #expect(!ValueSemantics.areInterchangeable(HalfShown(hidden: [1]), HalfShown(hidden: [2])))
        // The types have the same parts, but are not the same.
        #expect(!ValueSemantics.areInterchangeable(Empty(), OtherEmpty()))
        #expect(!ValueSemantics.areInterchangeable(Pair(), OtherPair()))
        #expect(ValueSemantics.areInterchangeable(Pair(), Pair()))
        #if !canImport(Darwin)
        // A C union has a mirror without children, and may hold the address of an object.
        #expect(!ValueSemantics.areInterchangeable(pthread_mutex_t(), pthread_mutex_t()))
        #endif
        // The parts of these types belong to the language, and may be addresses of objects.
        let pointer = UnsafeRawPointer(bitPattern: 8)!
        #expect(!ValueSemantics.areInterchangeable(pointer, pointer))
        #expect(!ValueSemantics.areInterchangeable(ObjectIdentifier(Int.self), ObjectIdentifier(Int.self)))
        #expect(!ValueSemantics.areInterchangeable([1, 2] as [Any], [1] as [Any]))
        #expect(!ValueSemantics.areInterchangeable([[1]], [[1], [2]]))
        #expect(!ValueSemantics.areInterchangeable(["a": [1]], ["a": [1], "b": [2]]))
        #expect(!ValueSemantics.areInterchangeable(["a": [1], "b": [2]], ["a": [1]]))
        #expect(!ValueSemantics.areInterchangeable(Int?.none as Any, Int?.some(1) as Any))
        #expect(!ValueSemantics.areInterchangeable(1, 1.0))
        #expect(!ValueSemantics.areInterchangeable(UInt8(1), 1))
    }
}
