#!/usr/bin/env bash
# Compares the contracts with the contracts of a git ref. The imported .proto files are not committed but
# printed from the libraries, so the tree of the ref gets the files of this tree.
set -euo pipefail
against=${1:-$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)}
if [ -z "$against" ]; then
  echo "breaking: no release to compare with; AGAINST=<git ref> names another"
  exit 0
fi
old=$(mktemp -d)
trap 'rm -rf "$old"' EXIT
git archive "$against" buf.yaml proto/api | tar -x -C "$old"
cp -r proto/third_party "$old/proto/"
GOWORK=off "$(GOWORK=off go -C tools/buf tool -n buf)" breaking --against "$old"
