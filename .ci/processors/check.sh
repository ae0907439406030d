#!/usr/bin/env bash
# The C target on other processors than this one: compiled for them with the toolchain's clang, and run by qemu. And
# DefaultJournal against the headers of musl, type-checked.
#
# - aarch64 with a kernel that reports the CRC instruction: it is used, and right in 3,200 cases of offset and length.
# - aarch64 with one that does not report it: it is not used.
# - s390x, which stores the highest byte of a word first: there is no instruction, and the atomics are right.
set -euo pipefail
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$*" >&2
    exit 1
}

# What a toolchain for Swift does not have: qemu, and the C libraries of the other processors.
packages=(
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user musl-dev linux-libc-dev
)
if ! dpkg -s "${packages[@]}" >/dev/null 2>&1; then
    if [ "$(uname -s)" != Linux ] || [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "SKIPPED: this check needs the packages ${packages[*]}, which only root can install, with apt-get."
        exit 0
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >"$work/apt" 2>&1 || {
        cat "$work/apt" >&2
        fail "The packages could not be installed."
    }
fi

# Compiles the C target and its test for a processor.
compile() {
    local processor=$1 options=(-std=c11 -O2 -Wall -Wextra -Werror -I Sources/CDefaultSystem/include)
    for source in Sources/CDefaultSystem/checksum.c .ci/processors/crc32c.c; do
        clang --target="$processor-linux-gnu" "${options[@]}" "${@:2}" -isystem "/usr/$processor-linux-gnu/include" \
            -c -o "$work/$(basename "$source" .c).o" "$source"
    done
    "$processor-linux-gnu-gcc" -static -o "$work/$processor" "$work"/*.o
}

expect() {
    local expected=$1 found
    shift
    found=$("$@") || fail "$*: ${found:-it failed}"
    echo "$(basename "$1"): $found"
    [ "$found" = "$expected" ] || fail "Expected \"$expected\"."
}

clang -std=c11 -O2 -Wall -Wextra -Werror -I Sources/CDefaultSystem/include -o "$work/here" \
    Sources/CDefaultSystem/checksum.c .ci/processors/crc32c.c
echo "here: $("$work/here")"
compile aarch64
expect "3200 cases by the instruction" qemu-aarch64 -cpu max "$work/aarch64"
# The same program, with what the kernel reports replaced.
compile aarch64 -Dgetauxval=reported
expect "no instruction" qemu-aarch64 -cpu max "$work/aarch64"
compile s390x
expect "no instruction" qemu-s390x "$work/s390x"

# The sources against musl: the standard library's interfaces compiled for it, and its own headers.
kept=.build/musl
processor=$(uname -m)
mkdir -p "$kept"
.ci/apple/stdlib.sh "$PWD/$kept/resources" musl "$processor-unknown-linux-musl" "$processor-unknown-linux-musl"
common=(
    -target "$processor-unknown-linux-musl" -resource-dir "$PWD/$kept/resources" -module-cache-path "$PWD/$kept/cache" -sdk "$work/musl"
    -I .ci/processors/musl -I "$work" -parse-as-library
)
mkdir -p "$work/musl/usr"
ln -s "/usr/include/$processor-linux-musl" "$work/musl/usr/include"
swiftc -emit-module "${common[@]}" -swift-version 5 -import-underlying-module -module-name Musl -o "$work/Musl.swiftmodule" \
    .ci/processors/musl/Musl.swift
cat >"$work/module.modulemap" <<MAP
module CDefaultSystem { header "$PWD/Sources/CDefaultSystem/include/CDefaultSystem.h" export * }
MAP
for configuration in "-Onone -D DEBUG" -O; do
    swiftc -typecheck "${common[@]}" $configuration -wmo -swift-version 6 -package-name default -warnings-as-errors \
        -enable-upcoming-feature ExistentialAny -enable-upcoming-feature InternalImportsByDefault \
        -enable-upcoming-feature MemberImportVisibility -enable-upcoming-feature NonisolatedNonsendingByDefault \
        -module-name DefaultJournal $(find Sources/DefaultJournal -name '*.swift' | sort)
    echo "DefaultJournal with musl, $configuration: type-checked"
done

# A program that is static altogether, where somebody has installed the Swift SDK for it.
if swift sdk list 2>/dev/null | grep -q 'static-linux'; then
    swift build -q -c release --package-path Examples/StaticTool --scratch-path Examples/StaticTool/.build-musl \
        --swift-sdk "$processor-swift-linux-musl"
    expect "Hello, visit 1: home" env XDG_CONFIG_HOME="$work" "Examples/StaticTool/.build-musl/release/visits" home
else
    echo "SKIPPED: the Swift SDK for static Linux programs is not installed, so StaticTool was not built with musl."
fi
