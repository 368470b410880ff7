#!/usr/bin/env bash
# Makes sure that a C compiler is on this machine, which Go's race detector needs; installs it from the
# distribution's packages when it is not.
set -euo pipefail

# A compiler without the headers of the C library is not enough.
found() { printf '#include <stdlib.h>\n' | "$(go env CC)" -E - >/dev/null 2>&1; }

found && exit 0
if ! command -v apt-get >/dev/null; then
  echo "A C compiler is missing. Install one with the headers of the C library, and set CC if it is not $(go env CC)." >&2
  exit 1
fi
run=()
if [ "$(id -u)" -ne 0 ]; then
  # Without a terminal sudo could ask for no password.
  if ! command -v sudo >/dev/null || ! { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    cat >&2 <<'END'
A C compiler is missing, and installing it needs root. Have somebody run, as root:
  apt-get update && apt-get install --no-install-recommends gcc libc6-dev
Only the race detector needs it; make test runs the same tests without it.
END
    exit 1
  fi
  run=(sudo)
fi
echo "Installing a C compiler with apt-get." >&2
"${run[@]}" apt-get update -qq
"${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends gcc libc6-dev >/dev/null
found || { echo "gcc was installed, but $(go env CC) does not compile. Is CC set to another compiler?" >&2; exit 1; }
