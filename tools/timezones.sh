#!/bin/bash
# Replaces the time zone database that programs carry (pkg/tzdb) by a release's: of a
# file tzdata.zi, as the releases of IANA and Debian's package tzdata have it, or
# without one of the newest package that apt offers. docs/time-zones.md says what follows.
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
