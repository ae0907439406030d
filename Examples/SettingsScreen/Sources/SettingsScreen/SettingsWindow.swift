#if canImport(SwiftUI)
package import SwiftUI

/// The app's window.
package struct SettingsWindow: Scene {
    package init() {}

    package var body: some Scene {
        WindowGroup { SettingsView() }
    }
}
#endif
