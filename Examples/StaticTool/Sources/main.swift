import Default

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The number and places of the visits, kept from one run to the next.
struct Visits: DefaultStorable {
    var count = 0
    var places: [String] = []

    static var defaultValue: Visits? { Visits() }
}

extension Defaults.Keys {
    static let greeting = Defaults.Key<String>("greeting", default: "Hello")
}

if let greeting = CommandLine.arguments.dropFirst(2).first, CommandLine.arguments[1] == "greet" {
    Defaults[.greeting] = greeting
} else if let place = CommandLine.arguments.dropFirst().first {
    do {
        try Visits.update { visits in
            visits.count += 1
            visits.places.append(place)
        }
    } catch {
        let complaint = "The visit isn't kept. \(error)\n"
        write(STDERR_FILENO, complaint, complaint.utf8.count)
        exit(1)
    }
}
let visits = Visits.read() ?? Visits()
print("\(Defaults[.greeting]), visit \(visits.count): \(visits.places.joined(separator: ", "))")
