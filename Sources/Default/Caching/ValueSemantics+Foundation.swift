#if Foundation
internal import Foundation

extension ValueSemantics {
    static let leavesOfFoundation: [Any.Type] = [CGFloat.self]
}
#else
extension ValueSemantics {
    static let leavesOfFoundation: [Any.Type] = []
}
#endif
