// 'nil' cannot be assigned to subscript of type 'Int'
import Default

extension DefaultsKeys {
    static let launchCount = DefaultsKey<Int>("launchCount")
}

func misuse() {
    Defaults[.launchCount] = nil
}
