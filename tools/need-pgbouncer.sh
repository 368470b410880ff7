#!/usr/bin/env bash
# Makes sure that PgBouncer is on this machine, which tests start for themselves;
# installs it from the distribution's packages when it is not. Only the program is
# wanted: no pooler of the system is started.
set -euo pipefail

found() { command -v pgbouncer >/dev/null || [ -x /usr/sbin/pgbouncer ]; }

found && exit 0
if ! command -v apt-get >/dev/null; then
  echo "PgBouncer is missing. Install its package, so that pgbouncer is on PATH." >&2
  exit 1
fi
run=()
if [ "$(id -u)" -ne 0 ]; then
  # Without a terminal sudo could ask for no password.
  if ! command -v sudo >/dev/null || ! { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    cat >&2 <<'END'
PgBouncer is missing, and installing it needs root. Have somebody run, as root:
  apt-get update && apt-get install --no-install-recommends pgbouncer
Only the tests that go through a pooler need it; make test-one runs those of another package without it.
END
    exit 1
  fi
  run=(sudo)
fi
echo "Installing PgBouncer with apt-get." >&2
# Debian starts a service when it is installed, unless a policy says not to (101).
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' | "${run[@]}" tee "$policy" >/dev/null
  "${run[@]}" chmod +x "$policy"
  trap '"${run[@]}" rm -f "$policy"' EXIT
fi
"${run[@]}" apt-get update -qq
"${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends pgbouncer >/dev/null
found || { echo "PgBouncer was installed, but pgbouncer was not found." >&2; exit 1; }
