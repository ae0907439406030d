internal import Foundation

/// Dates as text like `2026-11-22T17:00:00Z`, in the calendar of ISO 8601.
///
/// The conversion between days and dates is that of Howard Hinnant's "chrono-Compatible Low-Level Date Algorithms". Foundation's
/// formatter rounds, and takes a hundred times as long.
enum CivilTime {
    private static let secondsPerDay: Int64 = 86_400

    /// The text of a date on a whole second of the years 0 to 9999; nil for other dates.
    static func text(of date: Date) -> String? {
        let interval = date.timeIntervalSinceReferenceDate
        guard let seconds = Int64(exactly: interval), interval.sign == .plus || seconds != 0 else { return nil }
        let (unix, overflow) = seconds.addingReportingOverflow(Int64(Date.timeIntervalBetween1970AndReferenceDate))
        guard !overflow else { return nil }
        let days = unix >= 0 ? unix / secondsPerDay : (unix - secondsPerDay + 1) / secondsPerDay
        guard (-800_000...4_000_000).contains(days) else { return nil }
        let (year, month, day) = civil(from: days)
        guard (0...9999).contains(year) else { return nil }
        let second = unix - days * secondsPerDay
        return pad(year, 4) + "-" + pad(month, 2) + "-" + pad(day, 2) + "T" + pad(second / 3600, 2) + ":"
            + pad(second / 60 % 60, 2) + ":" + pad(second % 60, 2) + "Z"
    }

    /// The date of a text, which may have a fraction and an offset (`+01:00`); nil when it is not one.
    static func date(of text: String) -> Date? {
        let pattern =
            /(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d{1,9})?(?:Z|([+-])(\d\d):(\d\d))/
            .asciiOnlyDigits()
        guard let match = text.wholeMatch(of: pattern)?.output,
            let year = Int64(match.1), let month = Int64(match.2), let day = Int64(match.3), let hour = Int64(match.4),
            let minute = Int64(match.5), let second = Int64(match.6),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 60
        else {
            return nil
        }
        let days = days(year, month, day)
        guard civil(from: days) == (year, month, day) else { return nil }
        var unix = days * secondsPerDay + hour * 3600 + minute * 60 + second
        if let sign = match.8, let hours = match.9.flatMap({ Int64($0) }), let minutes = match.10.flatMap({ Int64($0) })
        {
            guard hours < 24, minutes < 60 else { return nil }
            unix -= (sign == "-" ? -1 : 1) * (hours * 3600 + minutes * 60)
        }
        let fraction = match.7.flatMap { Double("0" + $0) } ?? 0
        let whole = unix - Int64(Date.timeIntervalBetween1970AndReferenceDate)
        return Date(timeIntervalSinceReferenceDate: Double(whole) + fraction)
    }

    private static func pad(_ number: Int64, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    private static func civil(from days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
