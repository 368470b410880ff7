#!/usr/bin/env bash
# Runs the tests of one package, or some of them, with the PostgreSQL that they need. A
# pattern that matches no test fails.
set -euo pipefail
cd "$(dirname "$0")/.."
package=${1:-} run=${2:-}
if [ -z "$package" ]; then
  echo 'usage: make test-one PKG=./services/scheduling/internal/scheduleitem [RUN=TestName]' >&2
  exit 2
fi
out=$(mktemp)
trap 'rm -f "$out"' EXIT
go run ./pkg/testkit/cmd/withpg go test -count=1 -v -run "$run" "$package" 2>&1 | tee "$out" | { grep -vE '^(=== (RUN|PAUSE|CONT|NAME)|--- PASS)' || true; }
if ! grep -qE '^ *--- (PASS|FAIL)' "$out"; then
  echo "No test of $package matches '$run'." >&2
  exit 1
fi
