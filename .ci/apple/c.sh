#!/usr/bin/env bash
# Compiles and links the C target for macOS with Apple's own headers, and with the stubs of its libSystem. Both are in the package
# ziglang of PyPI, as is the compiler; it is installed in .build/apple. Without Python or PyPI the check is skipped, and says so.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=0.14.1
folder=$PWD/.build/apple/ziglang-$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ ! -e "$folder/complete" ]; then
    rm -rf "$folder"
    { python3 -m venv "$folder" && "$folder/bin/pip" install -q "ziglang==$version" && touch "$folder/complete"; } \
        >"$work/install" 2>&1 || {
        echo "Skipped: Apple's C headers, which the package ziglang of PyPI has, could not be installed:" "$(tail -1 "$work/install")"
        exit
    }
fi

compile() {
    "$folder/bin/python" -m ziglang cc -std=c11 -Wall -Wextra -Werror -O2 -I Sources/CDefaultSystem/include "$@"
}

cat >"$work/main.c" <<'END'
#include "CDefaultSystem.h"
#include <stdio.h>
int main(void) {
    printf("%d %zu %d\n", default_processor_number(), default_page_size(), default_crc32c_is_in_hardware());
}
END
for target in aarch64-macos.12.0 x86_64-macos.12.0; do
    compile -target $target Sources/CDefaultSystem/*.c "$work/main.c" -o "$work/program"
    echo "CDefaultSystem, $target, with Apple's headers: linked, $(stat -c %s "$work/program") bytes."
done
# With stubs of one's own, this might pass.
echo '#include <unistd.h>
int main(void) { int ends[2]; return pipe2(ends, 0); }' >"$work/planted.c"
if compile -target aarch64-macos.12.0 "$work/planted.c" -o "$work/planted" 2>"$work/log"; then
    echo "A call that macOS doesn't have was not found." >&2
    exit 1
fi
grep -q "undeclared function 'pipe2'" "$work/log"
