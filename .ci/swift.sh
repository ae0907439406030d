# Sourced by the scripts of this folder, after they went to the repository's.

# What a script makes goes with it when it ends.
work=$(mktemp -d)
trap "rm -rf '$work'" EXIT

fail() {
    echo "$*" >&2
    exit 1
}

# Fails if a name isn't one of those that a script knows: require_known "KNOWN…" [NAME…]
require_known() {
    local name
    for name in "${@:2}"; do
        [[ " $1 " = *" $name "* ]] || fail "There is no \"$name\". The names are: $1"
    done
}

# `swift build`, `swift test` and `swift run` of the
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

# How the modules of the package are compiled, where that is done without the package manager.
package_flags=(
    -swift-version 6 -package-name default -wmo
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault
    -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature NonisolatedNonsendingByDefault
)

# Type-checks DefaultJournal for another system, debug and release, with the standard library's interfaces (apple/stdlib.sh):
#   typecheck_journal SYSTEM TARGET LIBRARY SOURCE OPTION…
# SYSTEM is the compiler's folder for it, and LIBRARY the Swift module of its C library, which is made from SOURCE.
typecheck_journal() {
    local resources=$PWD/.build/$1 target=$2 library=$3 source=$4 configuration options
    .ci/apple/stdlib.sh "$resources" "$1" "$target" "$target"
    echo "module CDefaultSystem { header \"$PWD/Sources/CDefaultSystem/include/CDefaultSystem.h\" export * }" >"$work/module.modulemap"
    options=(-target "$target" -resource-dir "$resources" -module-cache-path "$resources/cache" -I "$work" -parse-as-library "${@:5}")
    swiftc -emit-module "${options[@]}" -swift-version 5 -module-name "$library" -o "$work/$library.swiftmodule" -suppress-warnings \
        $(sed -n "s/^@_exported import $library$/-import-underlying-module/p" "$source") "$source"
    for configuration in "-Onone -D DEBUG" -O; do
        # Warnings aren't errors: the compiler warns of a C library that it doesn't find itself.
        if ! swiftc -typecheck "${options[@]}" $configuration "${package_flags[@]}" -diagnostic-style llvm -module-name DefaultJournal \
            $(find Sources/DefaultJournal -name '*.swift' | sort) >"$work/log" 2>&1 ||
            grep -q 'Sources/.*: warning: ' "$work/log"; then
            cat "$work/log" >&2
            return 1
        fi
        echo "DefaultJournal, $target, $configuration: type-checked"
    done
    rm "$work/$library.swiftmodule"
}
