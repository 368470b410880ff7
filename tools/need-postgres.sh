#!/usr/bin/env bash
# Makes sure that PostgreSQL's server programs are on this machine; installs them from
# the distribution's packages when they are not. Only the programs are wanted: no server
# of the system is set up.
set -euo pipefail

found() {
  command -v initdb >/dev/null && return 0
  compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null
}

found && exit 0
if ! command -v apt-get >/dev/null; then
  cat >&2 <<'END'
PostgreSQL is missing. Install its server package (version 15 or newer), so that initdb is on PATH:
  Fedora: dnf install postgresql-server      macOS: brew install postgresql
END
  exit 1
fi
run=()
if [ "$(id -u)" -ne 0 ]; then
  # Without a terminal sudo could ask for no password.
  if ! command -v sudo >/dev/null || ! { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    cat >&2 <<'END'
PostgreSQL is missing, and installing it needs root. Either have somebody run, as root:
  apt-get update && apt-get install --no-install-recommends postgresql
or use a server (15 or newer) that you have, as a role that may create databases:
  go build -o bin/ ./services/standalone/cmd/rotaloom
  bin/rotaloom serve --demo --database-url 'postgres://user:password@host/postgres'
(tests: ROTALOOM_TEST_DATABASE_URL names a superuser's URL).
END
    exit 1
  fi
  run=(sudo)
fi
echo "Installing PostgreSQL's programs with apt-get. No server of the system is set up." >&2
# Debian makes a cluster of the system with the package, and starts it, unless it is told not to.
drop=/etc/postgresql-common/createcluster.d/rotaloom.conf
"${run[@]}" mkdir -p "$(dirname "$drop")"
echo 'create_main_cluster = false' | "${run[@]}" tee "$drop" >/dev/null
trap '"${run[@]}" rm -f "$drop"' EXIT
"${run[@]}" apt-get update -qq
"${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql >/dev/null
found || { echo "PostgreSQL was installed, but initdb was not found in /usr/lib/postgresql/*/bin." >&2; exit 1; }
