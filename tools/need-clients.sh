#!/usr/bin/env bash
# Installs missing HTTP clients for tests from the distribution's packages: curl, Python and Node, because
# users call the API with them.
set -euo pipefail

missing=()
command -v curl >/dev/null || missing+=(curl)
command -v python3 >/dev/null || missing+=(python3)
command -v node >/dev/null || missing+=(nodejs)
[ ${#missing[@]} -eq 0 ] && exit 0
if ! command -v apt-get >/dev/null; then
  echo "Missing: ${missing[*]}. Install curl, python3 and node, so that they are on PATH." >&2
  exit 1
fi
run=()
if [ "$(id -u)" -ne 0 ]; then
  # Without a terminal sudo could ask for no password.
  if ! command -v sudo >/dev/null || ! { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    cat >&2 <<END
Missing: ${missing[*]}. Installing them needs root. Have somebody run, as root:
  apt-get update && apt-get install --no-install-recommends ${missing[*]}
Only the tests of guides and clients need them; make test-one runs those of another package without them.
END
    exit 1
  fi
  run=(sudo)
fi
echo "Installing ${missing[*]} with apt-get." >&2
"${run[@]}" apt-get update -qq
"${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
