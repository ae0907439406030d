#if canImport(SwiftUI)
import Default
import DefaultSwiftUI
import SwiftUI

/// The same settings in the caller's store: one for each document, or one in memory for a preview or a test.
struct DocumentSettingsView: View {
    @StoredBinding private var volume: Double
    @Bindable private var settings: LiveSettings<AppSettings>
    @Bindable private var balance: KeyValueContainer<Double>

    init(in store: any DefaultsStore & Sendable) {
        _volume = Stored(.volume, suite: store)
        settings = LiveSettings(in: store)
        balance = store.makeContainer(default: 0.5, key: "balance")
    }

    var body: some View {
        Form {
            Slider(value: $volume)
            Slider(value: $balance.currentValue)
            Toggle("Dark", isOn: $settings.isDark)
            Text("\(volume) \(settings.fontSize)")
        }
    }
}

struct SettingsPreviews: PreviewProvider {
    static var previews: some View {
        DocumentSettingsView(in: MemoryDefaults())
    }
}
#endif
