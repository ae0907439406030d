import BenchmarkSupport
import Default
import Foundation

// Measures how long writers of a suite wait for each other, and how large its files get:
//
//     Benchmarks/waits [locks] [sizes] [syncs]
//
// The script builds this program, and makes its syncs take six seconds for the last part.

let arguments = CommandLine.arguments
if arguments.count > 2, let role = Peer(rawValue: arguments[1]) {
    // Ends the peers too when this program is ended early.
    let parent = getppid()
    Thread.detachNewThread {
        while getppid() == parent { sleep(1) }
        _exit(1)
    }
    try role.run(arguments[2], arguments.dropFirst(3).first.flatMap { Double($0) } ?? 0)
    exit(0)
}
for part in arguments.dropFirst() {
    switch part {
    case "locks": try LockWaits().measure()
    case "sizes": try FileSizes().measure()
    case "syncs": try SlowSyncs().measure()
    default:
        print("usage: WaitMeasure [locks] [sizes] [syncs]")
        exit(2)
    }
}
