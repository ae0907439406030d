// compiles
import Default
import Foundation

extension DefaultsKeys {
    static let launchCount = DefaultsKey<Int>("launchCount")
    static let installed = DefaultsKey<Date>("installed", default: Date())
}

enum Holder {
    static let defaults = Defaults()
    static let standard = Defaults(suite: .standard)
    static let suite = Defaults(suite: MemoryDefaults())
}

#if Foundation
let foundation = Defaults(suite: UserDefaults.standard)
#endif

class Document: DefaultStorable {
    var title = ""
    required init() {}
    class var defaultValue: Self { Self() }
}

struct Player {
    var volume = 0.5
}

extension Player: DefaultStorable {
    static let defaultValue = Player()
    static var defaultCoder: DefaultsCoder { .propertyList }
    static let defaults = MemoryDefaults()
}

func control() {
    Defaults[.launchCount] = 10
    Defaults[.launchCount] += 1
    Defaults[.installed] = Date()
    #if Foundation
    UserDefaults.standard[.launchCount] += 1
    #endif
    Holder.suite[.launchCount] = 10
}
