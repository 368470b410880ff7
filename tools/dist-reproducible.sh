#!/usr/bin/env bash
# Makes the archives and packages of the last commit twice, here and in a clone elsewhere,
# and compares all bytes: tools/dist-reproducible.sh [ARCH...].
set -euo pipefail
cd "$(dirname "$0")/.."
elsewhere=$(mktemp -d)
trap 'rm -rf "$elsewhere"' EXIT
for tree in here "over there"; do
  git clone -q --no-local . "$elsewhere/$tree"
  "$elsewhere/$tree/tools/dist.sh" "$@" >"$elsewhere/$tree.sums"
done
cat "$elsewhere/here.sums"
cmp "$elsewhere/here.sums" "$elsewhere/over there.sums" || { echo 'A second build of the same commit differs.' >&2; exit 1; }
