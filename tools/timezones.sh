#!/bin/bash
# Replaces the time zone database in programs (pkg/tzdb) with another release: from a file tzdata.zi, as in
# the releases of IANA and in Debian's package tzdata, or by default from the newest package of apt.
# docs/time-zones.md describes the effects.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source=${1:-}
if [ -z "$source" ]; then
	(cd "$work" && apt-get download -qq tzdata && dpkg-deb -x tzdata_*.deb package)
	source=$work/package/usr/share/zoneinfo/tzdata.zi
fi
zic=$(PATH=$PATH:/usr/sbin command -v zic) || { echo 'zic is missing (Debian: apt-get install libc-bin).' >&2; exit 1; }
"$zic" -b slim -d "$work/zoneinfo" "$source"
cd "$root"
go run ./pkg/tzdb/cmd/packzones "$source" "$work/zoneinfo" pkg/tzdb
echo "Time zones are those of $(cat pkg/tzdb/VERSION)."
