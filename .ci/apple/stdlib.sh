#!/usr/bin/env bash
# Makes a resource folder of the compiler for another system, out of the interfaces of the standard library that the toolchain
# has for Linux: `stdlib.sh FOLDER SYSTEM NAME TARGET`. They state availability, so the compiler checks it; what they implement
# does not matter, since nothing is linked.
set -euo pipefail
resources=$1 system=$2 name=$3 target=$4
linux=$(swiftc -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
mkdir -p "$resources/$system"
for folder in clang shims apinotes; do
    ln -sfn "$linux/$folder" "$resources/$folder"
done
modules=(Swift _Concurrency _StringProcessing _RegexParser SwiftOnoneSupport Synchronization Observation _Builtin_float _Volatile Testing)
for module in "${modules[@]}"; do
    folder="$resources/$system/$module.swiftmodule"
    mkdir -p "$folder"
    # The bodies use what is newer than the target, and `@backDeployed` would need those of two systems: they are compiled
    # unchecked. Availability of the declarations stays.
    sed -e "s/-target [^ ]*-unknown-linux-gnu/-target $target/" \
        -e '1,9s/^\(.. swift-module-flags: \)/\1-disable-availability-checking /' \
        -e '/^import Glibc$/d' -e '/_stdlib_remainderl\|_stdlib_squareRootl/d' -e '/^ *@backDeployed(.*)$/d' -e 's/@backDeployed([^)]*) //g' \
        "$linux/linux/$module.swiftmodule/$(uname -m)-unknown-linux-gnu.swiftinterface" >"$folder/$name.swiftinterface"
done
# What the interfaces for Linux lack elsewhere: an import of the C library's, and a type of Objective-C's.
echo '@usableFromInline internal func _swift_stdlib_gettid() -> Swift.UInt32' \
    >>"$resources/$system/Synchronization.swiftmodule/$name.swiftinterface"
cat >>"$resources/$system/Swift.swiftmodule/$name.swiftinterface" <<'SWIFT'
@frozen public struct AutoreleasingUnsafeMutablePointer<Pointee> {
  public let _rawValue: Builtin.RawPointer
}
SWIFT
