import Default

/// The coder of settings types that are tested in each format.
enum TestedFormat {
    @TaskLocal static var coder = DefaultsCoder.json
}

extension StoreKind {
    /// Calls a test for each pair of releases of a type, in each format, with a new current store.
    func forEachPair<Release>(
        of releases: [Release],
        _ test: (_ first: Release, _ second: Release, _ store: any DefaultsStore) throws -> Void
    ) throws {
        for coder in [DefaultsCoder.json, .propertyList] {
            try TestedFormat.$coder.withValue(coder) {
                for first in releases {
                    for second in releases {
                        try withCurrentStore { store in
                            try EventCollector().collect { try test(first, second, store) }
                        }
                    }
                }
            }
        }
    }
}
