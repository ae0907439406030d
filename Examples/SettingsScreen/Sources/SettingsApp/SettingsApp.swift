#if canImport(SwiftUI)
import SettingsScreen
import SwiftUI

@main
struct SettingsApp: App {
    var body: some Scene {
        SettingsWindow()
    }
}
#else
@main
struct SettingsApp {
    static func main() {
        print("SettingsScreen shows its settings with SwiftUI, which only Apple platforms have.")
    }
}
#endif
