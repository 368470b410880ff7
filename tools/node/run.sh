#!/usr/bin/env bash
# Runs a command with Node.js 20 or newer and npm on PATH: tools/node/run.sh COMMAND [ARGUMENT...].
# It uses the system's if they are new enough. Otherwise, as in Debian 12, npm installs the version
# in package.json into this folder. It installs a missing npm from the distribution's packages.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

new_enough() { [ "$(node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)" -ge 20 ]; }

if ! command -v npm >/dev/null; then
  if ! command -v apt-get >/dev/null; then
    echo "npm is missing. Install Node.js 20 or newer, with npm." >&2
    exit 1
  fi
  run=()
  if [ "$(id -u)" -ne 0 ]; then
    # Without a terminal sudo could ask for no password.
    if ! command -v sudo >/dev/null || ! { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
      printf 'npm is missing, and installing it needs root. Have somebody run, as root:\n  apt-get update && apt-get install --no-install-recommends nodejs npm\n' >&2
      exit 1
    fi
    run=(sudo)
  fi
  echo "Installing npm with apt-get." >&2
  "${run[@]}" apt-get update -qq
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nodejs npm >/dev/null
fi
if ! new_enough; then
  modules=$here/node_modules
  if [ ! -d "$modules" ] || [ "$here/package-lock.json" -nt "$modules" ]; then
    echo "Installing Node.js in tools/node, because the system's is older than 20." >&2
    (cd "$here" && npm ci --no-audit --no-fund --loglevel=error)
    touch "$modules"
  fi
  for folder in "$modules"/node-linux-*/bin; do PATH=$folder:$PATH; done
  new_enough || { echo "This needs Node.js 20 or newer; there is none for this machine in tools/node." >&2; exit 1; }
fi
exec "$@"
