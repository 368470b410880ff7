#!/usr/bin/env bash
# Runs the contract cases whose path under tests/contract/cases contains a text, in one
# process. A text that is in no path fails.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${1:-}" ]; then
  echo 'usage: make case CASE=scheduling/shift_template/create' >&2
  exit 2
fi
go test -count=1 ./tests/contract -run '^TestStandalone$' -case "${1%.yaml}" -v 2>&1 | { grep -vE '^ *(=== (RUN|PAUSE|CONT|NAME))' || true; }
