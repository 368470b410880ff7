#!/usr/bin/env bash
# Makes sure that PostgreSQL's server binaries are on this machine; installs
# them from the distribution's packages when they are not.
set -euo pipefail

found() {
  command -v initdb >/dev/null && return 0
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null
}

found && exit 0
if ! command -v apt-get >/dev/null; then
  echo "PostgreSQL is missing. Install its server package (15 or newer), so that initdb is on PATH." >&2
  exit 1
fi
run=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "PostgreSQL is missing. Run as root: apt-get install postgresql" >&2; exit 1; }
  run=(sudo)
fi
echo "Installing PostgreSQL with apt-get." >&2
"${run[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${run[@]}" apt-get install -y -qq --no-install-recommends postgresql >/dev/null
found || { echo "PostgreSQL was installed, but initdb was not found in /usr/lib/postgresql/*/bin." >&2; exit 1; }
