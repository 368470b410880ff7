#!/usr/bin/env bash
# Builds images of the last commit twice, here and in a clone elsewhere, and compares
# their digests: deploy/images/reproducible.sh IMAGE...
set -euo pipefail
cd "$(dirname "$0")/../.."
elsewhere=$(mktemp -d)
trap 'tools/remove.sh "$elsewhere"' EXIT
for tree in here there; do git clone -q --no-local . "$elsewhere/$tree"; done
build() { "$elsewhere/$1/deploy/images/build.sh" "${@:2}" | awk '{print $1, $2}'; }
first=$(build here "$@")
second=$(build there "$@")
echo "$first"
[ "$first" = "$second" ] || { echo "A second build of the same commit differs:" >&2; echo "$second" >&2; exit 1; }
