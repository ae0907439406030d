#if Foundation
internal import Foundation

extension ValueSemantics {
    static let leavesOfFoundation = [ObjectIdentifier(CGFloat.self)]
}
#else
extension ValueSemantics {
    static let leavesOfFoundation: [ObjectIdentifier] = []
}
#endif
