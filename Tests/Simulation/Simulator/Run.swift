import SimulatedKernel

/// The current run, which all tasks share, since they are on one thread.
nonisolated(unsafe) var run = Run(plan: Plan(seed: 0))

struct Run {
    let plan: Plan
    var history: History
    /// How many files the engine has renamed.
    var renames = 0
    private var successors = 0
    private var hasLostPower = false

    init(plan: Plan) {
        self.plan = plan
        history = History(of: plan)
    }

    /// Runs a plan, and returns the violations of the engine's promises.
    static func perform(_ plan: Plan, isLogged: Bool = false) -> [String] {
        run = Run(plan: plan)
        return plan.withKernelPlan(isLogged: isLogged) { kernelPlan in
            sim_begin(kernelPlan)
            addProcesses()
            var outcome = sim_run()
            // After a loss of power the survivors of the disk are checked first, and then two new processes use the
            // suite.
            if outcome == SIM_POWER_LOST {
                sim_lose_power()
                run.hasLostPower = true
                check(isAfterLoss: true)
                for _ in 0..<2 { SimulatedProcess.add(plan, operations: plan.operations / 2) }
                outcome = sim_run()
            }
            if outcome == SIM_STUCK { run.history.fail("no task can go on") }
            if run.history.problems.isEmpty { check(isAfterLoss: false) }
            return run.history.problems
        }
    }

    private static func addProcesses() {
        for number in 1...run.plan.processes {
            let isReadOnly = run.plan.hasObserver && number == run.plan.processes
            SimulatedProcess.add(run.plan, operations: run.plan.operations, isReadOnly: isReadOnly)
        }
        if run.plan.damages { DamagingProgram.add() }
        if run.plan.restores { BackupProgram.add(replacesDirectory: run.plan.replacesDirectory) }
    }

    private static func check(isAfterLoss: Bool) {
        sim_spare(true)
        SimulatedProcess.check(isAfterLoss: isAfterLoss, run.plan)
        if sim_run() != SIM_ENDED { run.history.fail("the last process can't go on") }
        sim_spare(false)
    }

    /// Starts a process that follows one that was killed.
    static func addSuccessor() {
        guard run.successors < 6 else { return }
        run.successors += 1
        SimulatedProcess.add(run.plan, operations: run.plan.operations / 2)
    }

    /// Checks that what a process has under the lock is what its journal's records say.
    ///
    /// Where a record is damaged, that isn't known.
    mutating func checkEntries(of journal: Journal) {
        let content = JournalNumbers.Content(of: journal.state.file.raw)
        guard content.end == journal.state.position else { return }
        for key in 0..<History.keys {
            let value = journal.storedNumber(key)
            if value != content.numbers[key] {
                history.fail("under the lock key \(key) has \(value), and \(content.numbers[key]) in the file")
            }
        }
    }

    /// Checks everything that a loss of power could leave now.
    ///
    /// After a loss of power the disk may hold damaged records, which only recovery can read.
    func checkImages(after event: String) {
        guard !hasLostPower else { return }
        Images.check(after: event)
    }
}

/// The contents that a loss of power could leave of the suite.
private enum Images {
    static func check(after event: String) {
        var images: [[UInt64]] = []
        withUnsafeMutablePointer(to: &images) { images in
            sim_for_each_image(
                SimulatedProcess.path,
                SuiteDirectory.journalName,
                { bytes, size, images in
                    let numbers = JournalNumbers.read(UnsafeRawBufferPointer(start: bytes, count: size))
                    images.assumingMemoryBound(to: [[UInt64]].self).pointee.append(numbers)
                },
                images
            )
        }
        for numbers in images { run.history.check(image: numbers, after: event) }
    }
}

/// A reader of a journal's file without an engine.
enum JournalNumbers {
    /// The numbers in an open file, and the end of its whole records.
    struct Content {
        private(set) var numbers: [UInt64] = []
        private(set) var end: UInt64 = 0

        init(of file: Int32) {
            withUnsafeMutablePointer(to: &self) { content in
                sim_with_content(
                    file,
                    { bytes, size, context in
                        let bytes = UnsafeRawBufferPointer(start: bytes, count: size)
                        let content = context.assumingMemoryBound(to: Content.self)
                        content.pointee.numbers = read(bytes)
                        content.pointee.end = UInt64(forEachRecord(in: bytes) { _, _ in })
                    },
                    content
                )
            }
        }
    }

    /// The numbers in a journal, as far as its records are whole.
    static func read(_ bytes: UnsafeRawBufferPointer) -> [UInt64] {
        var numbers = [UInt64](repeating: 0, count: History.keys)
        forEachRecord(in: bytes) { _, payload in
            Operation.forEach(in: payload) { operation in
                if case .set(let key, _, let value) = operation {
                    numbers[number(ofKey: key)] = value.loadUnaligned(as: UInt64.self)
                }
            }
        }
        return numbers
    }

    /// Calls a body with each record's range and payload, up to the first record that isn't whole.
    ///
    /// - Returns: The end of the last whole record.
    @discardableResult
    static func forEachRecord(
        in bytes: UnsafeRawBufferPointer,
        _ body: (Range<Int>, UnsafeRawBufferPointer) -> Void
    ) -> Int {
        guard case .valid(let header, _) = JournalHeader.parse(bytes) else { return 0 }
        var start = JournalHeader.size
        while let payload = payload(in: bytes, at: start, salt: header.salt) {
            let end = start + Record.size(payload: payload.count, at: UInt64(start))
            body(start..<end, payload)
            start = end
        }
        return start
    }

    /// The payload of the record that begins at an offset; nil if there is no whole record.
    private static func payload(
        in bytes: UnsafeRawBufferPointer,
        at start: Int,
        salt: UInt64
    ) -> UnsafeRawBufferPointer? {
        guard start + Record.headerSize <= bytes.count else { return nil }
        let length = bytes.littleEndian(at: start + 4, as: UInt32.self)
        let number = bytes.littleEndian(at: start + 2, as: UInt16.self)
        let header = Record.headerChecksum(salt: salt, offset: UInt64(start), number: number, length: length)
        let end = start + Record.size(payload: Int(length), at: UInt64(start))
        guard bytes.littleEndian(at: start, as: UInt16.self) == Record.marker,
            bytes.littleEndian(at: start + 8, as: UInt32.self) == header, end <= bytes.count
        else { return nil }
        let body = UnsafeRawBufferPointer(rebasing: bytes[start + Record.headerSize..<end])
        guard bytes.littleEndian(at: start + 12, as: UInt32.self) == CRC32C.checksum(body, continuing: header) else {
            return nil
        }
        return UnsafeRawBufferPointer(rebasing: body[0..<Int(length)])
    }
}

/// Tasks that run a closure.
enum Tasks {
    private final class Body {
        let run: () -> Void
        init(_ run: @escaping () -> Void) { self.run = run }
    }

    static func add(to process: Int32, _ body: @escaping () -> Void) {
        let context = Unmanaged.passRetained(Body(body)).toOpaque()
        sim_add_task(process, true, { Unmanaged<Body>.fromOpaque($0).takeRetainedValue().run() }, context)
    }
}
