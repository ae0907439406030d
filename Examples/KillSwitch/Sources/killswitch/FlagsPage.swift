import Default
import DefaultFleet
import Foundation
import SettingsPage
import ShopFlags

/// The flags as the operator's page shows them, with this host's view of the cluster and the outcome of each write.
struct FlagsPage: PageSuite {
    let flags: EtcdDefaults

    var store: any DefaultsStore & Sendable { flags }

    func writableStore() -> any DefaultsStore & Sendable { flags }

    /// All features, since one that was never switched is not stored, and operators look for it too.
    var declaredValues: [String: PropertyListValue] {
        Dictionary(uniqueKeysWithValues: Feature.allCases.map { ($0.rawValue, .boolean($0.isOn.defaultValue)) })
    }

    func condition() -> [ConditionNote] {
        let freshness = flags.freshness
        var notes: [ConditionNote] = []
        if let revision = freshness.revision {
            notes.append(
                ConditionNote(.information, "Revision \(revision)", "This host has the cluster's revision \(revision).")
            )
        } else {
            let text = "This host has never reached the cluster, so nothing is known of the flags."
            notes.append(ConditionNote(.problem, "Unknown", text))
        }
        notes.append(note(on: freshness.unconfirmedFor))
        if freshness.isFollowing {
            notes.append(ConditionNote(.good, "Following", "This process follows the cluster for its host."))
        } else if freshness.hasFollower {
            notes.append(ConditionNote(.good, "Followed", "Another process of this host follows the cluster."))
        } else {
            let text = "No process of this host follows the cluster, so it gets no changes."
            notes.append(ConditionNote(.problem, "Not followed", text))
        }
        if let reason = freshness.replacement {
            notes.append(ConditionNote(.problem, "Replaced", "Writes are refused: \(reason)."))
        }
        return notes
    }

    /// A note on how current the copy is: between changes it is confirmed every 15 seconds.
    private func note(on unconfirmed: Duration?) -> ConditionNote {
        guard let unconfirmed else {
            return ConditionNote(
                .warning,
                "Unconfirmed",
                "The copy was not compared with the cluster since the host was started."
            )
        }
        let text = "The copy was last known to be complete \(unconfirmed.components.seconds) seconds ago."
        return unconfirmed < .seconds(40)
            ? ConditionNote(.good, "Current", text)
            : ConditionNote(.warning, "Late", text + " Can the cluster be reached?")
    }

    func outcomeOfWrite() -> WriteOutcome {
        // A write returns when this host has received its revision.
        .stored("Stored: the cluster has accepted it, and this host has revision \(flags.freshness.revision ?? 0).")
    }

    func outcome(of error: any Error) -> WriteOutcome {
        switch error {
        case DefaultsError.Code.outcomeUnknown: .unknown("\(error)")
        case DefaultsError.Code.conflict: .conflict("\(error)")
        default: .refused("\(error)")
        }
    }
}
