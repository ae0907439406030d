import Default

/// What this program keeps from one run to the next.
struct VisualSettings: DefaultStorable {
    var themeName = "bright"
    var launchCount = 0

    static var defaultValue: VisualSettings? { VisualSettings() }
}

let place = "\"\(VisualSettings.defaultIdentifier)\" in \(VisualSettings.defaults.storeDescription)"

if CommandLine.arguments.contains("--reset") {
    VisualSettings.clear()
    print("Cleared \(place).")
} else {
    do {
        if let settings = try VisualSettings.load() {
            print("Found the \(settings.themeName) theme after launch \(settings.launchCount), kept under \(place).")
        } else {
            print("Found nothing under \(place) yet: this is the first launch.")
        }
        let saved = try VisualSettings.update { settings in
            settings.launchCount += 1
            settings.themeName = settings.launchCount.isMultiple(of: 2) ? "bright" : "dark"
            return settings
        }
        print("Saved the \(saved.themeName) theme and launch \(saved.launchCount). Run me again, or with --reset.")
    } catch {
        print("The settings could not be read or saved. \(error)")
    }
}
