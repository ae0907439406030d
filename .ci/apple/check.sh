#!/usr/bin/env bash
# Type-checks the library for macOS on Linux, at the minimum version that Package.swift states. The compiler, its knowledge of
# availability, the standard library's interfaces (stdlib.sh) and the C library's headers (headers.sh) are real. ObjectiveC, Foundation,
# Dispatch, os and SwiftUI are stubs in this folder, which state where their signatures are known from: nothing is proven about Apple's
# SDK beyond what they say, and nothing is run. When code for Apple platforms uses what a stub lacks, add it there with its `@available`,
# and name the page that you know its signature from. It takes some minutes, most of them for the standard library.
#
# 1. The C target is compiled and linked, and DefaultJournal compiled to an object file, debug and release; everything else is
#    type-checked, with Objective-C interoperability, for which the toolchain for Linux can't generate code.
# 2. A program that imports the library, FirstTry.swift, is type-checked too, and with `check.sh tests` all tests, which takes
#    four minutes more.
# 3. Statements on a UserDefaults mean the same declarations with and without `import Default` (KeyValueCoding.swift).
# 4. `Default` is type-checked for iOS too, for what is compiled only where the system suspends apps (`check.sh ios`).
# 5. What the objects call, and the sources name, that Apple requires a reason for is in the privacy manifest
#    (required-reasons).
set -euo pipefail
cd "$(dirname "$0")/../.."
. .ci/swift.sh

kit=$PWD/.ci/apple
what=${1:-macos}
system=${what/tests/macos}
work=$PWD/.build/apple/$system
case $system in
macos) triple=(x86_64-apple-macosx "") oldest=10.15 library=(macosx x86_64-apple-macos x86_64-apple-macosx10.13) ;;
# The simulator's, because the interfaces for Linux declare what is particular to this processor.
ios) triple=(x86_64-apple-ios -simulator) oldest=13.0 library=(iphonesimulator x86_64-apple-ios-simulator x86_64-apple-ios12.0-simulator) ;;
esac
failures=0

fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

# The minimum version that the package in a folder states.
minimum_of() {
    swift package --package-path "$1" dump-package | tr -d ' \n' |
        sed -n 's/.*"platformName":"'$system'","version":"\([0-9.]*\)".*/\1/p'
}

minimum=$(minimum_of .)
[ -n "$minimum" ] || {
    echo "Package.swift states no minimum version of $system." >&2
    exit 1
}

# The stubs are no SDK with settings of its own, which the compiler warns of each time.
swiftc() {
    command swiftc "$@" 2> >(grep -vF 'Could not read SDKSettings.json' >&2)
}

# The compiler's own cache knows which interfaces and flags its modules were made from.
mkdir -p "$work"
rm -rf "$work/modules" "$work/objects"
mkdir -p "$work/modules" "$work/objects" "$work/processor"
cat >"$work/processor/module.modulemap" <<MAP
module CDefaultSystem { header "$PWD/Sources/CDefaultSystem/include/CDefaultSystem.h" export * }
MAP
ziglang=$("$kit/headers.sh") || {
    echo "SKIPPED: the type checks for macOS and iOS."
    exit
}
"$kit/stdlib.sh" "$work/resources" "${library[@]}"
headers=(-idirafter "$(echo "$ziglang"/lib/python3*/site-packages/ziglang/lib/libc/include/any-macos-any)")
for_clang=()
for option in "${headers[@]}"; do for_clang+=(-Xcc "$option"); done
common=(
    -resource-dir "$work/resources" -module-cache-path "$work/cache" -sdk "$kit/sdk" "${for_clang[@]}"
    -I "$work/modules" -I "$work/processor" -diagnostic-style llvm
)
ours=(
    "${common[@]}" "${package_flags[@]}" -target "${triple[0]}$minimum${triple[1]}" -D Foundation
)
strictly=(-warnings-as-errors -Werror ExplicitSendable)
configurations=("-Onone -D DEBUG" "-O")

# A module that stands for one of Apple's.
stub() {
    local for_tests=$kit/$1ForTests.swift
    [ -e "$for_tests" ] || for_tests=
    swiftc -emit-module "${common[@]}" -parse-as-library -swift-version 5 -target "${triple[0]}$oldest${triple[1]}" -module-name "$1" \
        "${@:2}" -Xfrontend -disable-objc-attr-requires-foundation-module -o "$work/modules/$1.swiftmodule" "$kit/$1.swift" $for_tests
}

sources() {
    find "$1" -name '*.swift' | sort
}

# Type-checks a module, debug and release, and makes it known to those above it.
check_module() {
    local name=$1 folder=$2 configuration
    for configuration in "${configurations[@]}"; do
        # Nothing else in the sources differs between the two.
        [ "$configuration" = -O ] || grep -rqw DEBUG "$folder" || continue
        echo "$name, $configuration"
        swiftc -typecheck "${ours[@]}" "${strictly[@]}" $configuration -parse-as-library -module-name "$name" $(sources "$folder") ||
            fail "$name does not compile for $system $minimum ($configuration)."
    done
    # With what tests see of it.
    swiftc -emit-module "${ours[@]}" -D DEBUG -enable-testing -parse-as-library -suppress-warnings -module-name "$name" \
        -Xfrontend -experimental-skip-all-function-bodies -o "$work/modules/$name.swiftmodule" $(sources "$folder") ||
        fail "There is no module $name."
}

echo "$system $minimum"
stub Darwin -import-underlying-module
stub ObjectiveC -import-underlying-module
stub Dispatch
stub Foundation -import-underlying-module
stub os
stub SwiftUI

if [ "$system" != macos ]; then
    configurations=("-O")
    check_module DefaultJournal Sources/DefaultJournal
    check_module Default Sources/Default
    [ "$failures" = 0 ]
    exit
fi

# Beside what follows, each on one processor.
"$kit/check.sh" ios >"$work/ios" 2>&1 &
ios=$!

compile_c() {
    "$ziglang/bin/python" -m ziglang cc -std=c11 -Wall -Wextra -Werror -O2 -I Sources/CDefaultSystem/include "$@"
}
cat >"$work/main.c" <<'END'
#include "CDefaultSystem.h"
#include <stdio.h>
int main(void) {
    printf("%d %zu %d\n", default_processor_number(), default_page_size(), default_crc32c_is_in_hardware());
}
END
for processor in x86_64 aarch64; do
    echo "CDefaultSystem, $processor"
    for source in Sources/CDefaultSystem/*.c; do
        compile_c -target $processor-macos.$minimum -c -o "$work/objects/$processor-$(basename "$source").o" "$source" ||
            fail "$source does not compile for $processor."
    done
    compile_c -target $processor-macos.$minimum "$work/objects/$processor-"*.o "$work/main.c" -o "$work/program" ||
        fail "CDefaultSystem does not link for $processor."
done
# With stubs of one's own, this might pass.
echo '#include <unistd.h>
int main(void) { int ends[2]; return pipe2(ends, 0); }' >"$work/planted.c"
! compile_c -target aarch64-macos.12.0 "$work/planted.c" -o "$work/program" 2>"$work/log" || fail "A call that macOS lacks was not found."
grep -q "undeclared function 'pipe2'" "$work/log" || fail "A call that macOS lacks was not found: $(cat "$work/log")"
# The module uses no class of Objective-C's. Without interoperability the compiler can generate code.
for configuration in "${configurations[@]}"; do
    echo "DefaultJournal to an object file, $configuration"
    swiftc -c "${ours[@]}" "${strictly[@]}" $configuration -parse-as-library -Xfrontend -disable-objc-interop -module-name DefaultJournal \
        -o "$work/objects/DefaultJournal${configuration// /}.o" $(sources Sources/DefaultJournal) ||
        fail "DefaultJournal does not compile for macOS $minimum ($configuration)."
done
check_module DefaultJournal Sources/DefaultJournal
check_module Default Sources/Default
check_module DefaultOperators Sources/DefaultOperators
check_module DefaultConformance Sources/DefaultConformance
check_module DefaultSwiftUI Sources/DefaultSwiftUI

# What tests use, and the tests, with the toolchain's own Testing. They use what came with macOS 15.
plugins=$(dirname "$(dirname "$(readlink -f "$(type -P swiftc)")")")/lib/swift/host/plugins
testing=("${ours[@]}" -D DEBUG -target "${triple[0]}15.0" -load-plugin-library "$plugins/libTestingMacros.so")
echo "Sources/DefaultTesting, macOS 15"
swiftc -emit-module "${testing[@]}" "${strictly[@]}" -parse-as-library -module-name DefaultTesting \
    -o "$work/modules/DefaultTesting.swiftmodule" $(sources Sources/DefaultTesting) || fail "DefaultTesting does not compile for macOS 15."
if [ "$what" = tests ]; then
    for name in JournalProbe JournalTestHelper DefaultTestHelper DefaultJournalTests DefaultTests; do
        echo "Tests/$name, macOS 15"
        [ "$name" != JournalProbe ] || swiftc -emit-module "${testing[@]}" -parse-as-library -module-name $name \
            -o "$work/modules/$name.swiftmodule" $(sources Tests/$name)
        swiftc -typecheck "${testing[@]}" -module-name $name \
            $(find -L Tests/$name -name '*.swift' -not -path '*/Fixtures/*' | sort) || fail "Tests/$name does not compile for macOS 15."
    done
fi

# Examples whose sources need nothing but the package.
echo "Examples/QuickStart"
swiftc -typecheck "${ours[@]}" "${strictly[@]}" -module-name QuickStart $(sources Examples/QuickStart) ||
    fail "Examples/QuickStart does not compile for macOS $minimum."

# Views, at the minimum of the example that has some: Observation needs more than the library.
views=$(minimum_of Examples/SettingsScreen)
viewing=("${ours[@]}" "${strictly[@]}" -target "${triple[0]}$views" -parse-as-library)
echo "Examples/SettingsScreen and the documentation's views, macOS $views"
screen=Examples/SettingsScreen/Sources
swiftc -typecheck "${viewing[@]}" -module-name SettingsScreen $(sources $screen/SettingsScreen) &&
    swiftc -emit-module "${viewing[@]}" -Xfrontend -experimental-skip-all-function-bodies -module-name SettingsScreen \
        -o "$work/modules/SettingsScreen.swiftmodule" $(sources $screen/SettingsScreen) &&
    swiftc -typecheck "${viewing[@]}" -module-name SettingsApp $(sources $screen/SettingsApp) ||
    fail "Examples/SettingsScreen does not compile for macOS $views."
rm -rf "$work/snippets"
mkdir "$work/snippets"
.ci/snippets views "$work/snippets"
for snippet in "$work"/snippets/*.swift; do
    swiftc -typecheck "${viewing[@]}" -module-name Snippet "$snippet" || fail "A view in the documentation does not compile."
done

for isolation in "" "-default-isolation MainActor"; do
    echo "FirstTry.swift $isolation"
    swiftc -typecheck "${common[@]}" -target "${triple[0]}$views" -swift-version 6 -warnings-as-errors -parse-as-library $isolation \
        -module-name FirstTry "$kit/FirstTry.swift" || fail "FirstTry.swift does not compile for macOS $views ($isolation)."
done

wait "$ios" || fail "Default does not compile for iOS."
cat "$work/ios"

echo "KeyValueCoding.swift"
# The declarations that the statements mean, in their order. Line numbers are the same in both.
meanings() {
    swiftc -dump-ast "${common[@]}" -target "x86_64-apple-macosx$minimum" -swift-version 5 -parse-as-library "$@" \
        -module-name KeyValueCoding "$kit/KeyValueCoding.swift" >"$work/ast" || return 1
    # Each with its type, which differs between overloads of one name.
    grep -E ' decl="(Foundation|ObjectiveC|Default|DefaultJournal|KeyValueCoding)\.' "$work/ast" | sed 's/^ *//'
}
meanings >"$work/meanings" && meanings -D WITH_DEFAULT >"$work/meanings-with-default" ||
    fail "KeyValueCoding.swift does not compile."
[ "$(grep -cE 'setValue\(_:forKey|observe\(_:' "$work/meanings")" -ge 8 ] ||
    fail "The statements of KeyValueCoding.swift were not found in what the compiler prints."
diff "$work/meanings" "$work/meanings-with-default" >&2 ||
    fail "With \`import Default\` (>) statements on a UserDefaults mean other declarations than without (<)."

echo "Privacy manifest"
manifest=Sources/Default/PrivacyInfo.xcprivacy
{
    llvm-nm --undefined-only --just-symbol-name "$work"/objects/*.o | sed -n 's/^_\([a-z_0-9]*\)\(\$.*\)*$/\1/p'
    # Names in the sources, without comments.
    find Sources -name '*.swift' -exec sed 's,//.*,,' {} + | grep -oE '[A-Za-z_][A-Za-z_0-9]*' | sed 's/^/:/'
} | sort -u >"$work/used"
[ -s "$work/used" ] || fail "No symbols were found."
awk 'NR == FNR { used[$0]; next } /^[A-Z]/ && $2 in used { print $1, $2 }' "$work/used" "$kit/required-reasons" >"$work/needed"
cat "$work/needed"
# The reasons that the manifest gives for a category.
declared() {
    tr -d ' \n\t' <"$manifest" |
        sed -n "s,.*<string>NSPrivacyAccessedAPICategory$1</string><key>NSPrivacyAccessedAPITypeReasons</key><array>\([^a]*\)</array>.*,\1,p" |
        sed 's,</*string>, ,g'
}
for category in $(cut -d ' ' -f 1 "$work/needed" | sort -u); do
    given=$(declared "$category")
    reasons=$(sed -n "s/^# reasons $category //p" "$kit/required-reasons")
    if [ -z "$given" ] || [ -z "$reasons" ]; then
        fail "$manifest gives no reason for $category:" $(sed -n "s/^$category //p" "$work/needed")
    fi
    for reason in $reasons; do
        grep -qF " $reason " <<<"$given" || fail "$manifest does not give the reason $reason for $category."
    done
done

[ "$failures" = 0 ] || {
    echo "$failures problems." >&2
    exit 1
}
