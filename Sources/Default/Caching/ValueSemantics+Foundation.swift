#if Foundation
internal import Foundation

extension ValueSemantics {
    static let leavesOfFoundation: Set = [ObjectIdentifier(CGFloat.self)]
}
#else
extension ValueSemantics {
    static let leavesOfFoundation: Set<ObjectIdentifier> = []
}
#endif
