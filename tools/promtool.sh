#!/usr/bin/env bash
# Prints where promtool is: on PATH, or unpacked from Debian's package prometheus. Nothing is
# installed, and no root is needed: apt works on a state of its own.
set -euo pipefail
if command -v promtool; then exit 0; fi
folder=${XDG_CACHE_HOME:-$HOME/.cache}/rotaloom-promtool
tool=$folder/usr/bin/promtool
if [ -x "$tool" ]; then echo "$tool"; exit 0; fi
for program in apt-get dpkg-deb; do
  command -v $program >/dev/null || { echo "promtool is missing: install Prometheus so that promtool is on PATH." >&2; exit 1; }
done
mkdir -p "$folder"
exec 9>"$folder/lock"; flock 9
if [ -x "$tool" ]; then echo "$tool"; exit 0; fi
apt=$folder/apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
echo "Fetching promtool of Debian's package prometheus." >&2
options=(-qq -o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" -o Debug::NoLocking=1 -o APT::Sandbox::User= -o Acquire::Languages=none)
apt-get "${options[@]}" update >&2
(cd "$apt" && apt-get "${options[@]}" download prometheus >&2)
dpkg-deb --fsys-tarfile "$apt"/prometheus_*.deb | tar -C "$folder" -xf - ./usr/bin/promtool
rm -rf "$apt"
echo "$tool"
