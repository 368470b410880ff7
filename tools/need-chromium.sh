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
  command -v sudo >/dev/null || { echo "A browser is missing. Run as root: apt-get install chromium-headless-shell" >&2; exit 1; }
  run=(sudo)
fi
echo "Installing a headless Chromium with apt-get." >&2
"${run[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${run[@]}" apt-get install -y -qq --no-install-recommends chromium-headless-shell >/dev/null
