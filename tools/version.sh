#!/usr/bin/env bash
# Prints the version of the tree: that of its tag (v1.2.0 -> 1.2.0), or else the number of the
# next release with the commit, as the programs print it (pkg/boot/build.go).
# --flags prints the linker's flags that build the programs with it.
set -euo pipefail
cd "$(dirname "$0")/.."
changed=$(git status --porcelain)
tag=
[ -n "$changed" ] || tag=$(git describe --exact-match --match 'v[0-9]*' HEAD 2>/dev/null || true)
if [ "${1:-}" = --flags ]; then
  # Only a tag needs a flag: Go itself records the commit.
  [ -z "$tag" ] || printf ' -X github.com/rotaloom/rotaloom/pkg/boot.tagged=%s' "${tag#v}"
  exit
fi
[ -z "$tag" ] || { echo "${tag#v}"; exit; }
version=$(cat pkg/boot/version.txt)-g$(git rev-parse HEAD | cut -c1-12)
[ -z "$changed" ] || version+=.modified
echo "$version"
