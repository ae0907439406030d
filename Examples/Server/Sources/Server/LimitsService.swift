import Default
import Logging
import ServiceLifecycle
import Synchronization
import TenantSettings

/// The limits that hold now.
final class CurrentLimits: Sendable {
    private let limits = Mutex(Limits())

    var value: Limits {
        get { limits.withLock { $0 } }
        set { limits.withLock { $0 = newValue } }
    }
}

/// Follows the limits while the server runs, so that a change of them needs no restart.
///
/// Limits that can't be used change nothing: those before them hold on. So a mistake in an administrator's file doesn't
/// end the service, nor does it lift the limits.
struct LimitsService: Service {
    let suite: FileDefaults
    let current: CurrentLimits
    let logger: Logger

    func run() async {
        await cancelWhenGracefulShutdown {
            for await limits in Limits.updates(in: suite) {
                use(limits ?? Limits())
            }
        }
    }

    /// Uses limits, if they can be used.
    func use(_ limits: Limits) {
        if let problem = limits.problem {
            logger.warning("The limits stay as they are. \(problem)")
        } else if limits != current.value {
            current.value = limits
            logger.info("At most \(limits.tenants) tenants, and \(limits.greeting) bytes in a greeting.")
        }
    }
}
