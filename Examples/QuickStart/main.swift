import Default
import Foundation

/// The settings that this program keeps from one run to the next.
struct VisualSettings: DefaultStorable {
    var themeName = "bright"
    var launchCount = 0

    static var defaultValue: VisualSettings? { VisualSettings() }
}

let place = "\"\(VisualSettings.defaultIdentifier)\" in \(VisualSettings.defaults.storeDescription)"

switch CommandLine.arguments.dropFirst().first {
case "--reset":
    VisualSettings.clear()
    print("Cleared \(place).")
case "--watch":
    print("Watching \(place). Run me again in another window; Control-C ends this.")
    for await settings in VisualSettings.updates() {
        let settings = settings ?? VisualSettings()
        print("The \(settings.themeName) theme, launch \(settings.launchCount).")
        fflush(nil)
    }
default:
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
        print(
            "Saved the \(saved.themeName) theme and launch \(saved.launchCount). Run me again, with --watch or --reset."
        )
    } catch {
        print("The settings could not be read or saved. \(error)")
    }
}
