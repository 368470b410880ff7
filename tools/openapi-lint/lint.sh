#!/usr/bin/env bash
# Checks the API description with the linter that package.json names.
set -euo pipefail
cd "$(dirname "$0")"

if ! command -v npm >/dev/null || [ "$(node -p 'process.versions.node.split(".")[0]')" -lt 20 ]; then
  echo "The linter of the API description needs Node.js 20 or newer, with npm." >&2
  exit 1
fi
if [ ! -d node_modules ] || [ package-lock.json -nt node_modules ]; then
  npm ci --no-audit --no-fund --loglevel=error
  touch node_modules
fi
REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true \
  node_modules/.bin/redocly lint --config redocly.yaml ../../proto/gen/openapi/openapi.yaml
