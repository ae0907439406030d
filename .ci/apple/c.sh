#!/usr/bin/env bash
# Compiles and links the C target for macOS with Apple's own headers, and with the stubs of its libSystem: see headers.sh. Where
# these can't be installed the check is skipped, and says so.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$("$PWD/.ci/apple/headers.sh") || exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

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
