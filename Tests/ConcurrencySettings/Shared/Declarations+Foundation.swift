import Default
import Foundation

#if Foundation
extension Defaults.Keys {
    static let token = Key<NSUUID?>("token")
}
#endif
