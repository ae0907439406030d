/// The measured operations; the raw values are part of the benchmarks' names.
package enum MeasuredOperation: String, CaseIterable, Sendable {
    case settingsRead = "settings-read"
    case settingsReadAfterChange = "settings-read-after-change"
    case settingsWrite = "settings-write"
    case settingsUpdate = "settings-update"
    case keyGet = "key-get"
    case keySet = "key-set"
    case keyIncrement = "key-increment"
    case dataGet = "data-get"
    case dataSet = "data-set"
    case dataSetSame = "data-set-same"
    case dataSetPaced = "data-set-paced"
    case open10 = "open-00010"
    case open1000 = "open-01000"
    case open10000 = "open-10000"
    case open100000 = "open-100000"
    case growth10 = "growth-000010"
    case growth100 = "growth-000100"
    case growth1000 = "growth-001000"
    case growth10000 = "growth-010000"
    case growth100000 = "growth-100000"
    case dataGetThreads1 = "threads-1-data-get"
    case dataGetThreads2 = "threads-2-data-get"
    case settingsReadThreads1 = "threads-1-settings-read"
    case settingsReadThreads2 = "threads-2-settings-read"
    case dataSetThreads2 = "threads-2-data-set"
    case dataSetProcesses2 = "processes-2-data-set"
    case observation = "observation"
    case lookUp = "floor-look-up"
    case encode = "floor-encode"
    case decode = "floor-decode"
    case lockedWrite = "floor-locked-write"
    case lockedWritePaced = "floor-locked-write-paced"
    case encodeAndLockedWrite = "floor-encode-and-locked-write"

    /// The operation's name in a table.
    package var title: String {
        switch self {
        case .settingsRead: "settings type: read, unchanged"
        case .settingsReadAfterChange: "settings type: change by another handle, then read"
        case .settingsWrite: "settings type: write, changed value"
        case .settingsUpdate: "settings type: update"
        case .keyGet: "typed key: get"
        case .keySet: "typed key: set"
        case .keyIncrement: "typed key: `+= 1`"
        case .dataGet: "`data(forKey:)`, 112 bytes"
        case .dataSet: "`set(_:forKey:)`, 112 bytes"
        case .dataSetSame: "`set(_:forKey:)`, the same bytes again"
        case .dataSetPaced: "`set(_:forKey:)`, one each 5 ms"
        case .open10: "open and read one of 10 keys"
        case .open1000: "open and read one of 1,000 keys"
        case .open10000: "open and read one of 10,000 keys"
        case .open100000: "open and read one of 100,000 keys"
        case .growth10: "`set(_:forKey:)` among 10 keys"
        case .growth100: "`set(_:forKey:)` among 100 keys"
        case .growth1000: "`set(_:forKey:)` among 1,000 keys"
        case .growth10000: "`set(_:forKey:)` among 10,000 keys"
        case .growth100000: "`set(_:forKey:)` among 100,000 keys"
        case .dataGetThreads1: "`data(forKey:)`, 1 thread"
        case .dataGetThreads2: "`data(forKey:)`, 2 threads, per value read"
        case .settingsReadThreads1: "settings type: read, 1 thread"
        case .settingsReadThreads2: "settings type: read, 2 threads, per value read"
        case .dataSetThreads2: "`set(_:forKey:)`, 2 threads, per value set"
        case .dataSetProcesses2: "`set(_:forKey:)` while another process sets"
        case .observation: "from a write in one process to the value in another"
        case .lookUp: "`Mutex` + `Dictionary` look-up, 100 keys"
        case .encode: "encode alone"
        case .decode: "decode alone"
        case .lockedWrite: "flock + `pwrite` of 150 bytes at the end of a file + unlock"
        case .lockedWritePaced: "the same, once each 5 ms"
        case .encodeAndLockedWrite: "encode + flock + `pwrite` at the end of a file + unlock"
        }
    }

    /// The number of keys beside the one in use, for the operations that measure their effect.
    package var keyCount: Int {
        switch self {
        case .open10, .growth10: 10
        case .open1000, .growth1000: 1_000
        case .open10000, .growth10000: 10_000
        case .open100000, .growth100000: 100_000
        default: 100
        }
    }

    /// The operation that this one can't do without, as its lower bound.
    package var floor: MeasuredOperation? {
        switch self {
        case .settingsRead, .keyGet, .dataGet, .dataGetThreads1, .settingsReadThreads1: .lookUp
        case .settingsReadAfterChange: .decode
        case .settingsWrite, .settingsUpdate: .encodeAndLockedWrite
        case .keySet, .keyIncrement, .dataSet, .growth10, .growth100, .growth1000, .growth10000, .growth100000:
            .lockedWrite
        case .dataSetPaced: .lockedWritePaced
        default: nil
        }
    }

    package var isFloor: Bool { rawValue.hasPrefix("floor-") }
}

/// The stores and libraries that are compared.
package enum Contender: String, CaseIterable, Sendable {
    case library = "Default"
    case userDefaults = "UserDefaults"
    case synchronized = "UserDefaults-synchronize"
    case sqlite = "SQLite"
    case lmdb = "LMDB"
    case propertyList = "property-list"
    case floor = "floor"

    /// The contender's name in a table.
    package var title: String {
        switch self {
        case .library: "Default"
        case .userDefaults: "`UserDefaults`"
        case .synchronized: "`UserDefaults` + `synchronize`"
        case .sqlite: "SQLite (GRDB)"
        case .lmdb: "LMDB"
        case .propertyList: "property list, whole file"
        case .floor: "floor"
        }
    }
}

/// One benchmark of the plan, identified by its name: the harness's export carries names and little else.
package struct BenchmarkName: Hashable, Sendable {
    /// The metric of operations that span two processes, which the harness can't time.
    package static let latencyMetric = "nanoseconds"

    package var round: Int
    package var operation: MeasuredOperation
    package var contender: Contender
    /// The number of operations in one iteration.
    package var count: Int

    package init(round: Int, operation: MeasuredOperation, contender: Contender, count: Int) {
        self.round = round
        self.operation = operation
        self.contender = contender
        self.count = count
    }

    /// Parses the name that ``text`` makes; nil for any other name.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/")
        guard parts.count == 4, let round = Int(parts[0].drop { !$0.isNumber }),
            let count = Int(parts[3].drop { !$0.isNumber }),
            let operation = MeasuredOperation(rawValue: String(parts[1])),
            let contender = Contender(rawValue: String(parts[2]))
        else { return nil }
        self.init(round: round, operation: operation, contender: contender, count: count)
    }

    /// The harness runs benchmarks in the order of their names: rounds alternate, and contenders that are compared are
    /// measured one right after the other.
    package var text: String {
        "round\(round)/\(operation.rawValue)/\(contender.rawValue)/x\(count)"
    }
}
