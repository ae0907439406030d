package import Foundation

extension Date {
    /// The date in the notation of ISO 8601, exact to the second; with a fraction where it has one.
    package var exactText: String {
        let seconds = timeIntervalSinceReferenceDate
        guard abs(seconds) < 1e11 else {
            return "\(seconds) s"
        }
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: seconds != seconds.rounded())
        return formatted(style)
    }

    /// Reads what `exactText` gives, and what the Mac's tool takes: a date, then perhaps a time, then perhaps a zone.
    package init?(text: String) {
        let pattern =
            /(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d+)?)?)? ?(?:(Z)|([+-])(\d\d):?(\d\d))?/
        guard let match = text.wholeMatch(of: pattern)?.output,
            let year = Int(match.1), let month = Int(match.2), let day = Int(match.3)
        else {
            return nil
        }
        let hour = match.4.flatMap { Int($0) } ?? 0
        let minute = match.5.flatMap { Int($0) } ?? 0
        let second = match.6.flatMap { Int($0) } ?? 0
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let components = DateComponents(
            calendar: calendar,
            year: year,
            month: month,
            day: day,
            hour: hour,
            minute: minute,
            second: second
        )
        guard components.isValidDate, let date = components.date else {
            return nil
        }
        var seconds = date.timeIntervalSinceReferenceDate
        seconds += match.7.flatMap { Double("0\($0)") } ?? 0
        if let hours = match.10.flatMap({ Double($0) }), let minutes = match.11.flatMap({ Double($0) }) {
            seconds -= (match.9 == "-" ? -1 : 1) * (hours * 60 + minutes) * 60
        }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }
}
