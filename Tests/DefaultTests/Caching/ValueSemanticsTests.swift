import Foundation
import Testing

@testable import Default

private protocol Shape {}
private final class Object: Shape, Hashable {
    static func == (lhs: Object, rhs: Object) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}
private struct Square: Shape { var side = 1.0 }
private struct Drawing { var shape: any Shape }
private struct Opaque: CustomReflectable {
    var object = Object()
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
private enum Content {
    case nothing, empty
    case text(String)
    case other(String)
    case object(Object)
    indirect case nested(Content)
}
private struct Holder<Value> {
    var value: Value
    var name = "n"
}

@Suite("Two decoded values")
struct ValueSemanticsTests {
    @Test("are interchangeable when all parts are equal values")
    func values() {
        let values: [any Sendable] = [
            1, "text", true, 1.5, Data([1]), Date.distantPast, URL(filePath: "/"), Decimal(1), UInt8(1), -0.0,
            [1, 2], ["a": 1], Set(["a", "b"]), [[1], []], [String: [Int?]](),
            Optional<Int>.none as Int?, Optional<String>.some("x") as String?, ["k": ["a": 1.0]],
        ]
        for value in values {
            #expect(ValueSemantics.areInterchangeable(value, value), "\(value)")
            #expect(ValueSemantics.areInterchangeable(Holder(value: value), Holder(value: value)), "\(value)")
        }
        #expect(ValueSemantics.areInterchangeable(Drawing(shape: Square()), Drawing(shape: Square())))
        #expect(ValueSemantics.areInterchangeable((1, "a"), (1, "a")))
        #expect(ValueSemantics.areInterchangeable([Square(), Square()], [Square(), Square()]))
        #expect(ValueSemantics.areInterchangeable([1: Square()], [1: Square()]))
        for content in [Content.nothing, .text("a"), .nested(.nested(.text("b")))] {
            #expect(ValueSemantics.areInterchangeable(content, content))
        }
    }

    @Test("of one of the simple types are interchangeable when they are equal")
    func leaves() {
        func check<Value: Equatable>(_ one: Value, _ other: Value) {
            #expect(ValueSemantics.isLeaf(Value.self), "\(Value.self)")
            #expect(ValueSemantics.areInterchangeable(one, one), "\(Value.self)")
            #expect(!ValueSemantics.areInterchangeable(one, other), "\(Value.self)")
            #expect(ValueSemantics.areInterchangeable([one, other], [one, other]), "\(Value.self)")
            #expect(!ValueSemantics.areInterchangeable([one, other], [other, one]), "\(Value.self)")
            #expect(ValueSemantics.areInterchangeable(Holder(value: one), Holder(value: one)), "\(Value.self)")
            #expect(!ValueSemantics.areInterchangeable(Holder(value: one), Holder(value: other)), "\(Value.self)")
        }
        check("a", "b")
        check(Character("a"), "b")
        check(true, false)
        check(Float(1), 2)
        check(1.0, 2)
        check(1, 2)
        check(Int8(1), 2)
        check(Int16(1), 2)
        check(Int32(1), 2)
        check(Int64(1), 2)
        check(UInt(1), 2)
        check(UInt8(1), 2)
        check(UInt16(1), 2)
        check(UInt32(1), 2)
        check(UInt64(1), 2)
        check(Decimal(1), 2)
        check(Data([1]), Data([2]))
        check(Date.distantPast, .distantFuture)
        check(URL(filePath: "/a"), URL(filePath: "/b"))
        check(UUID(), UUID())
        check(Duration.seconds(1), .seconds(2))
        check(Int128(1), 2)
        check(UInt128(1), 2)
        #if Foundation
        check(CGFloat(1), 2)
        #endif
        #expect(!ValueSemantics.isLeaf(Square.self) && !ValueSemantics.isLeaf([Int].self))
        // NaN isn't equal to itself.
        #expect(!ValueSemantics.areInterchangeable(Double.nan, Double.nan))
        #expect(ValueSemantics.areEqual(1, 1) && !ValueSemantics.areEqual(1, 2) && !ValueSemantics.areEqual(1, "1"))
        #expect(!ValueSemantics.areEqual(Square(), Square()))
    }

    @Test("with optional or labelled parts are interchangeable when these have the same case and label")
    func optionals() {
        #expect(ValueSemantics.areInterchangeable(Holder(value: Int?.none), Holder(value: Int?.none)))
        #expect(!ValueSemantics.areInterchangeable(Holder(value: Int?.none), Holder(value: Int?.some(0))))
        #expect(!ValueSemantics.areInterchangeable(Holder(value: Int?.some(1)), Holder(value: Int?.some(2))))
        #expect(!ValueSemantics.areInterchangeable(Int??.none as Any, Int??.some(nil) as Any))
        #expect(!ValueSemantics.areInterchangeable((1, "a"), (1, "b")))
        #expect(!ValueSemantics.areInterchangeable(["a": 1], ["b": 1]))
        #expect(!ValueSemantics.areInterchangeable(["a": Square()], ["a": Square(side: 2)]))
        #expect(ValueSemantics.areInterchangeable(["a": Square()], ["a": Square()]))
        #expect(ValueSemantics.areInterchangeable(Set([[1], [2]]), Set([[2], [1]])))
        #expect(!ValueSemantics.areInterchangeable(Set([[1], [2]]), Set([[1]])))
    }

    @Test("are not interchangeable when any part differs, such as one that isn't coded")
    func differences() {
        #expect(!ValueSemantics.areInterchangeable(1, 2))
        #expect(!ValueSemantics.areInterchangeable(1, "1"))
        #expect(!ValueSemantics.areInterchangeable([1], [1, 2]))
        #expect(!ValueSemantics.areInterchangeable([Square()], [Square(side: 2)]))
        #expect(!ValueSemantics.areInterchangeable([Square()], [Square]()))
        #expect(!ValueSemantics.areInterchangeable([1: Square()], [2: Square()]))
        #expect(!ValueSemantics.areInterchangeable([1: Square()], [1: Square(side: 2)]))
        #expect(!ValueSemantics.areInterchangeable(Set([1]), Set([2])))
        #expect(!ValueSemantics.areInterchangeable([Int?.some(1)], [Int?.none]))
        #expect(!ValueSemantics.areInterchangeable(Holder(value: UUID()), Holder(value: UUID())))
        #expect(!ValueSemantics.areInterchangeable(Holder(value: 1), Holder(value: 1, name: "m")))
        #expect(!ValueSemantics.areInterchangeable(Content.nothing, Content.empty))
        #expect(!ValueSemantics.areInterchangeable(Content.text("a"), Content.other("a")))
        #expect(!ValueSemantics.areInterchangeable(Content.text("a"), Content.text("b")))
        #expect(!ValueSemantics.areInterchangeable(Content.text("a"), Content.nothing))
    }

    @Test("are not interchangeable when a reader could change a part for others, or a part is not visible")
    func sharing() {
        let object = Object()
        #expect(!ValueSemantics.areInterchangeable(object, object))
        #expect(!ValueSemantics.areInterchangeable(Drawing(shape: object), Drawing(shape: object)))
        #expect(!ValueSemantics.areInterchangeable(Content.object(object), Content.object(object)))
        #expect(!ValueSemantics.areInterchangeable(Content.nested(.object(object)), Content.nested(.object(object))))
        #expect(!ValueSemantics.areInterchangeable([object], [object]))
        #expect(!ValueSemantics.areInterchangeable(Set([object]), Set([object])))
        #expect(!ValueSemantics.areInterchangeable([object: 1], [object: 1]))
        #expect(!ValueSemantics.areInterchangeable(["k": object], ["k": object]))
        #expect(!ValueSemantics.areInterchangeable([Object?.some(object)], [Object?.some(object)]))
        #expect(!ValueSemantics.areInterchangeable(Opaque(object: object), Opaque(object: object)))
        #expect(!ValueSemantics.areInterchangeable({ 1 }, { 1 }))
        #expect(!ValueSemantics.areInterchangeable(NSMutableArray(), NSMutableArray()))
        // The result may differ between values of one type.
        #expect(ValueSemantics.areInterchangeable(Drawing(shape: Square()), Drawing(shape: Square())))
        #expect(!ValueSemantics.areInterchangeable(Drawing(shape: object), Drawing(shape: object)))
    }
}
