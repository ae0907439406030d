#!/usr/bin/env bash
# build.sh PROGRAM [ENGINE [OPTION…]]: makes one program of the engine in Sources/DefaultJournal, or of another copy of it, of the
# simulated kernel and of the simulator, with more options for the Swift compiler. The linker puts the kernel's functions in place of
# the C library's.
set -euo pipefail
program=$(realpath --canonicalize-missing "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
engine=$(realpath "${2:-$root/Sources/DefaultJournal}")
work=$program.parts
mkdir -p "$work"
cat >"$work/module.modulemap" <<MODULES
module CDefaultSystem { header "$root/Sources/CDefaultSystem/include/CDefaultSystem.h" export * }
module SimulatedKernel { header "$root/Tests/Simulation/Kernel/include/SimulatedKernel.h" export * }
MODULES
for source in "$root"/Sources/CDefaultSystem/*.c "$root"/Tests/Simulation/Kernel/*.c; do
    object="$work/$(basename "$source" .c).o"
    clang -O2 -g -Wall -Wextra -Werror -Wno-nullability-completeness -Wno-unused-parameter -I "$root/Sources/CDefaultSystem/include" \
        -I "$root/Tests/Simulation/Kernel/include" -c "$source" -o "$object"
done
# With the engine's own limits, runs as short as these would never compact in the background, nor within a write.
rm -rf "$work/engine"
cp -r "$engine" "$work/engine"
limits=$work/engine/Engine/Journal+Compaction.swift
sed -i 's/static let slack: UInt64 = 512 << 10/static let slack: UInt64 = 4 << 10/' "$limits"
sed -i 's/static let largestExcess: UInt64 = 8/static let largestExcess: UInt64 = 1/' "$limits"
[ "$(grep -c 'UInt64 = 4 << 10$\|largestExcess: UInt64 = 1$' "$limits")" = 2 ]
wraps=$(sed -n 's/^.*[ *]__wrap_\([a-z_0-9]*\)(.*) {.*$/-Xlinker --wrap=\1/p' "$root"/Tests/Simulation/Kernel/*.c | sort -u)
# The compiler leaves a module where it is called.
cd "$work"
# Exclusivity isn't checked: the runtime keeps its list of accesses by thread, and all tasks are on one.
# shellcheck disable=SC2086
swiftc -O -wmo -g -swift-version 6 -enforce-exclusivity=unchecked -parse-as-library \
    -module-name JournalSimulation -package-name default \
    -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature MemberImportVisibility \
    -Xcc "-fmodule-map-file=$work/module.modulemap" -o "$program" \
    $(find "$work/engine" "$root/Tests/Simulation/Simulator" -name '*.swift') "$work"/*.o $wraps "${@:3}"
