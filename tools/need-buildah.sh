#!/usr/bin/env bash
# Makes sure that images can be built: with buildah, or with a running Docker. Installs buildah from
# the distribution's packages if both are missing, with uidmap, which it needs for users other than root.
set -euo pipefail

found() {
  if command -v buildah >/dev/null; then [ "$(id -u)" -eq 0 ] || command -v newuidmap >/dev/null; return; fi
  command -v docker >/dev/null && docker info >/dev/null 2>&1
}

found && exit 0
if ! command -v apt-get >/dev/null; then
  echo "buildah and Docker are missing. Install one of them." >&2
  exit 1
fi
run=()
if [ "$(id -u)" -ne 0 ]; then
  # Without a terminal sudo could ask for no password.
  if ! command -v sudo >/dev/null || ! { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    cat >&2 <<'END'
Building images needs buildah or a running Docker, and installing buildah needs root. Have somebody run, as root:
  apt-get update && apt-get install --no-install-recommends buildah uidmap
END
    exit 1
  fi
  run=(sudo)
fi
echo "Installing buildah with apt-get." >&2
"${run[@]}" apt-get update -qq
"${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends buildah uidmap >/dev/null
found || { echo "buildah was installed, but one of its programs was not found." >&2; exit 1; }
