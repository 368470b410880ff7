#!/usr/bin/env bash
# Changes code in small ways, one at a time, and runs the tests of its package. Changes that
# no test notices survive. Prints the survivors and the score, in percent, of each package
# and of all packages, and fails if a score is not above the threshold. Changes in a function
# that no test of the package runs count as survivors.
#
#   mutate.sh [FOLDER...]    folders of packages; the default is the list below
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
threshold=${THRESHOLD:-90}
# Rules without a database or a network, whose own tests must notice changes.
list=(
  pkg/policy pkg/civil pkg/fault pkg/fault/bulk pkg/denial pkg/cache pkg/ratelimit pkg/acceptlanguage
  services/auth/internal/password services/auth/internal/scopes services/auth/internal/username
  services/scheduling/internal/rotation services/scheduling/internal/span services/scheduling/internal/entryid
  services/scheduling/internal/patterndefinition
)
[ $# -gt 0 ] || set -- "${list[@]}"
gremlins=$(GOWORK=off go -C tools/mutate tool -n gremlins)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=${GOFLAGS:-}

# survivors prints the survivors of a folder. A profile does not say whether constants and the conditions of a
# switch are run, so they are not changed.
survivors() {
  { grep -E '^ *(LIVED|NOT COVERED) ' || true; } | while read -r line; do
    place=${line##* at }
    file=${place%%:*} at=${place#*:} at=${at%%:*}
    if [[ $line == NOT* ]] && sed -n "${at}p" "$1/$file" | grep -qE '^[[:space:]]*case '; then continue; fi
    if head -n "$at" "$1/$file" | grep -E '^[a-z]' | tail -n 1 | grep -q '^func'; then echo "$1: $line"; fi
  done
}

failed=0 killed=0 all=0
for folder in "$@"; do
  module=$folder
  until [ -f "$module/go.mod" ]; do module=$(dirname "$module"); done
  # A module is changed in a copy of its folder, where relative paths are invalid.
  sed "s|=> \(\.\.[^ ]*\)|=> \"$root/$module/\1\"|" "$module/go.mod" > "$work/go.mod"
  cp "$module/go.sum" "$work/go.sum"
  # The time limit of a change is a multiple of the time of the tests, including compilation: compile before.
  (cd "$module" && GOWORK=off GOFLAGS="$flags -modfile=$work/go.mod" go test -count=1 -coverprofile="$work/profile" "./${folder#"$module"/}") > "$work/out" 2>&1 || { cat "$work/out"; exit 1; }
  (cd "$module" && GOWORK=off GOFLAGS="$flags -modfile=$work/go.mod" "$gremlins" unleash "./${folder#"$module"/}" \
    --workers "$(nproc)" --timeout-coefficient "${TIMEOUT:-10}" --exclude-files '.*/.*\.pb\.go' --invert-logical --invert-loopctrl) > "$work/out" 2>&1 || { cat "$work/out"; exit 1; }
  survivors "$folder" < "$work/out" | tee "$work/survivors"
  # A change that never ends was noticed.
  k=$(grep -cE '^ *(KILLED|TIMED OUT) ' "$work/out" || true)
  n=$((k + $(wc -l < "$work/survivors")))
  if [ "$n" -eq 0 ]; then echo "mutate: $folder: nothing to change"; continue; fi
  killed=$((killed + k)) all=$((all + n))
  echo "mutate: $folder: $k of $n noticed, $((100 * k / n)) %"
  [ $((100 * k)) -gt $((threshold * n)) ] || failed=1
done
[ "$all" -eq 0 ] || echo "mutate: all: $killed of $all noticed, $((100 * killed / all)) %"
[ "$failed" -eq 0 ] || { echo "mutate: a package is not above $threshold %: write the tests that notice." >&2; exit 1; }
