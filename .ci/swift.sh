# Sourced by the scripts of this folder, after they went to the repository's. `swift build`, `swift test` and `swift run` of the
# main package, by them and by the commands of the documentation that they run, are one build in a folder of its own: warnings
# are errors in it, and it emits the symbol graphs that the documentation is made from. What is built by hand, without these
# flags, stays in .build, so that neither makes the other compile everything again.

export checks_root=$PWD
export checks_build=$PWD/.build-checks

checked_swift() {
    local action=${1:-}
    if [ "$PWD" != "$checks_root" ]; then
        command swift "$@"
        return
    fi
    case "$action: $* " in
    # Both have Hummingbird, which takes minutes, and one folder for it.
    *" --package-path Examples/Server "*) command swift "$@" --scratch-path "$checks_root/Packages/Settings/.build" ;;
    # It has the dependencies of Fleet, and need not compile them again.
    *" --package-path Examples/KillSwitch "*) command swift "$@" --scratch-path "$checks_root/Packages/Fleet/.build" ;;
    *" --package-path "* | *" --scratch-path "*) command swift "$@" ;;
    build:*" release "*)
        shift
        command swift "$action" --scratch-path "$checks_build" -Xswiftc -warnings-as-errors "$@"
        ;;
    build:* | test:* | run:*)
        shift
        # The compiler does not make this folder.
        mkdir -p "$checks_build/symbol-graphs"
        command swift "$action" --scratch-path "$checks_build" -Xswiftc -warnings-as-errors \
            -Xswiftc -emit-symbol-graph -Xswiftc -emit-symbol-graph-dir -Xswiftc "$checks_build/symbol-graphs" \
            -Xswiftc -emit-extension-block-symbols -Xswiftc -symbol-graph-minimum-access-level -Xswiftc public \
            -Xswiftc -symbol-graph-skip-synthesized-members "$@"
        ;;
    *) command swift "$@" ;;
    esac
}

swift() {
    checked_swift "$@"
}

export -f checked_swift swift
