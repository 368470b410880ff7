#!/usr/bin/env bash
# Makes sure that a headless browser is on this machine, for the test of the page
# at /docs; installs it from the distribution's packages when it is not.
set -euo pipefail

command -v chromium-headless-shell >/dev/null && exit 0
if ! command -v apt-get >/dev/null; then
  echo "A browser is missing. Install Chromium so that chromium-headless-shell is on PATH." >&2
  exit 1
fi
run=()
if [ "$(id -u)" -ne 0 ]; then
  # Without a terminal sudo could ask for no password.
  if ! command -v sudo >/dev/null || ! { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    cat >&2 <<'END'
A headless browser is missing, and installing it needs root. Have somebody run, as root:
  apt-get update && apt-get install --no-install-recommends chromium-headless-shell
Only the test of the page at /docs needs it; make test-one runs those of another package without it.
END
    exit 1
  fi
  run=(sudo)
fi
echo "Installing a headless Chromium with apt-get." >&2
"${run[@]}" apt-get update -qq
"${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium-headless-shell >/dev/null
