import ArgumentParser

@main
struct FleetAgent: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet-agent",
        abstract:
            "Keeps this host's copies of suites in etcd up to date, and reads and changes suites for an operator.",
        discussion: Exit.discussion,
        subcommands: [
            Follow.self, List.self, Get.self, SetValue.self, Remove.self, Export.self, Import.self, History.self,
            RollBack.self, Seed.self,
        ],
        defaultSubcommand: Follow.self
    )
}
