internal import Foundation

/// Dates as text like `2026-11-22T17:00:00Z`, in the calendar of ISO 8601, which begins with the year 1583.
enum CivilTime {
    /// The text of a date on a whole second of the years 1583 to 9999; nil for other dates.
    static func text(of date: Date) -> String? {
        let interval = date.timeIntervalSinceReferenceDate
        guard let seconds = Int64(exactly: interval), seconds != 0 || interval.sign == .plus else { return nil }
        let text = date.formatted(.iso8601)
        return self.date(of: text) == date ? text : nil
    }

    /// The date of a text, which may have a fraction and an offset (`+01:00`); nil when it is not one.
    static func date(of text: String) -> Date? {
        let pattern = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?(?:Z|([+-])(\d\d):(\d\d))/.asciiOnlyDigits()
        guard let match = text.wholeMatch(of: pattern)?.output, match.1 >= "1583",
            let whole = try? Date(match.1 + "Z", strategy: .iso8601),
            // Foundation also reads days and times that there are not.
            whole.formatted(.iso8601) == match.1 + "Z"
        else {
            return nil
        }
        var offset = 0.0
        if let sign = match.3, let hours = match.4.flatMap({ Double($0) }),
            let minutes = match.5.flatMap({ Double($0) })
        {
            guard hours < 24, minutes < 60 else { return nil }
            offset = (sign == "-" ? -1 : 1) * (hours * 3600 + minutes * 60)
        }
        return whole + (match.2.flatMap { Double("0" + $0) } ?? 0) - offset
    }
}
