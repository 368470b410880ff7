#!/usr/bin/env bash
# Makes sure that OpenLDAP's server is on this machine, which the tests of the
# directory start for themselves; installs it from the distribution's packages
# when it is not.
set -euo pipefail

found() { command -v slapd >/dev/null || [ -x /usr/sbin/slapd ]; }

found && exit 0
if ! command -v apt-get >/dev/null; then
  echo "OpenLDAP is missing. Install its server package, so that slapd is on PATH." >&2
  exit 1
fi
run=()
if [ "$(id -u)" -ne 0 ]; then
  # Without a terminal sudo could ask for no password.
  if ! command -v sudo >/dev/null || ! { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    cat >&2 <<'END'
OpenLDAP's server is missing, and installing it needs root. Have somebody run, as root:
  apt-get update && apt-get install --no-install-recommends slapd
Only the tests of the auth service need it; make test-one runs those of another package without it.
END
    exit 1
  fi
  run=(sudo)
fi
echo "Installing OpenLDAP with apt-get." >&2
"${run[@]}" apt-get update -qq
# Only the program is wanted: no directory is set up, and no service started.
if command -v debconf-set-selections >/dev/null; then
  echo "slapd slapd/no_configuration boolean true" | "${run[@]}" debconf-set-selections
fi
"${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slapd >/dev/null
found || { echo "OpenLDAP was installed, but slapd was not found." >&2; exit 1; }
