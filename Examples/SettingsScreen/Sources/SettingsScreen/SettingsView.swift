#if canImport(SwiftUI)
import Default
import DefaultSwiftUI
import SwiftUI

struct SettingsView: View {
    @Stored(.volume) private var volume  // rendered again after each change, by any process
    @Stored(.isSoundOn) private var isSoundOn
    @Bindable private var settings = LiveSettings<AppSettings>()  // for a type with a default value: not optional
    var body: some View {
        Form {
            Slider(value: $volume)  // a Binding
            Toggle("Sound", isOn: $isSoundOn)
            Toggle("Dark", isOn: $settings.isDark)
            Text("\(Defaults[.launchCount])")  // a plain read is tracked too
        }
    }
}
#endif
