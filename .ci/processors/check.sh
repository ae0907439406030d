#!/usr/bin/env bash
# The C target on other processors than this one: compiled for them with the toolchain's clang, and run by qemu. And
# DefaultJournal against the headers of musl, type-checked.
#
# - aarch64 with a kernel that reports the CRC instruction: it is used, and right in 3,200 cases of offset and length.
# - aarch64 with one that does not report it: it is not used.
# - s390x, which stores the highest byte of a word first: there is no instruction, and the atomics are right.
set -euo pipefail
cd "$(dirname "$0")/../.."
. .ci/swift.sh

# What a toolchain for Swift does not have: qemu, and the C libraries of the other processors.
packages=(
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user musl-dev linux-libc-dev
)
if ! dpkg -s "${packages[@]}" >/dev/null 2>&1; then
    .ci/install --no-install-recommends "${packages[@]}" || {
        echo "SKIPPED: this check needs the packages ${packages[*]}."
        exit
    }
fi

# Compiles the C target and its test for a processor.
compile() {
    local processor=$1 options=(-std=c11 -O2 -Wall -Wextra -Werror -I Sources/CDefaultSystem/include)
    for source in Sources/CDefaultSystem/*.c .ci/processors/crc32c.c; do
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
    Sources/CDefaultSystem/*.c .ci/processors/crc32c.c
echo "here: $("$work/here")"
compile aarch64
expect "3200 cases by the instruction" qemu-aarch64 -cpu max "$work/aarch64"
# The same program, with what the kernel reports replaced.
compile aarch64 -Dgetauxval=reported
expect "no instruction" qemu-aarch64 -cpu max "$work/aarch64"
compile s390x
expect "no instruction" qemu-s390x "$work/s390x"

# The sources against musl's own headers. Swift's part of the module is what Darwin's has, with another name for errno.
processor=$(uname -m)
mkdir -p "$work/musl/usr"
ln -s "/usr/include/$processor-linux-musl" "$work/musl/usr/include"
echo 'module Musl [system] { header "headers.h" export * }' >"$work/musl/module.modulemap"
headers=(dirent errno fcntl poll pthread sched signal stdio stdlib string sys/{file,inotify,mman,socket,stat} time unistd)
printf '#include <%s.h>\n' "${headers[@]}" >"$work/musl/headers.h"
sed 's/import Darwin/import Musl/; s/__error()/__errno_location()/' .ci/apple/Darwin.swift >"$work/Musl.swift"
typecheck_journal musl "$processor-unknown-linux-musl" Musl "$work/Musl.swift" -sdk "$work/musl" -I "$work/musl"

# A program that is static altogether, where somebody has installed the Swift SDK for it.
if swift sdk list 2>/dev/null | grep -q 'static-linux'; then
    swift build -q -c release --package-path Examples/StaticTool --scratch-path Examples/StaticTool/.build-musl \
        --swift-sdk "$processor-swift-linux-musl"
    expect "Hello, visit 1: home" env XDG_CONFIG_HOME="$work" "Examples/StaticTool/.build-musl/release/visits" home
else
    echo "SKIPPED: the Swift SDK for static Linux programs is not installed, so StaticTool was not built with musl."
fi
