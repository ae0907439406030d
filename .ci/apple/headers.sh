#!/usr/bin/env bash
# Apple's own C headers, and a compiler for Apple platforms with the stubs of libSystem: both are in the package ziglang of PyPI, at
# the version below. `headers.sh` installs it in .build/apple and prints its folder. Without Python or PyPI it prints why on standard
# error, and ends with a status of 1. Root gets Python by apt-get.
set -euo pipefail
version=0.14.1
folder=$(cd "$(dirname "$0")/../.." && pwd)/.build/apple/ziglang-$version
if [ ! -e "$folder/complete" ]; then
    rm -rf "$folder"
    mkdir -p "$(dirname "$folder")"
    # Swift's image has no Python, and Debian and Ubuntu have what `venv` needs in a package of its own.
    python3 -c 'import ensurepip, venv' 2>/dev/null || "$(dirname "$0")/../install" python3-venv
    log=$(mktemp)
    { python3 -m venv "$folder" && "$folder/bin/pip" install -q "ziglang==$version" && touch "$folder/complete"; } >"$log" 2>&1 || {
        echo "Apple's C headers, which the package ziglang of PyPI has, could not be installed: $(tail -1 "$log")" >&2
        rm -f "$log"
        exit 1
    }
    rm -f "$log"
fi
echo "$folder"
