#!/usr/bin/env bash
# Checks the API description with the linter that package.json names: tools/node/run.sh tools/openapi-lint/lint.sh.
set -euo pipefail
cd "$(dirname "$0")"

if [ ! -d node_modules ] || [ package-lock.json -nt node_modules ]; then
  npm ci --no-audit --no-fund --loglevel=error
  touch node_modules
fi
REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true \
  node_modules/.bin/redocly lint --config redocly.yaml ../../proto/gen/openapi/openapi.yaml
