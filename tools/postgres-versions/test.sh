#!/usr/bin/env bash
# Runs what depends most on the database (the building block, the migrations and statements
# of all services, every contract case, crashes and a server that is named) on the oldest
# PostgreSQL that will do and on the newest that Debian has. Neither is installed.
set -euo pipefail
cd "$(dirname "$0")/../.."

for version in '15 bookworm' '18 sid'; do
  read -r major suite <<<"$version"
  bin=$(tools/postgres-versions/get.sh "$major" "$suite")
  echo "== PostgreSQL $major"
  export ROTALOOM_TEST_POSTGRES_MAJOR=$major
  PATH="$bin:$PATH" go run ./pkg/testkit/cmd/withpg go test -count=1 ./pkg/pg/... ./pkg/outbox/... \
    ./services/auth/... ./services/commons/... ./services/timekeeping/... ./services/scheduling/... ./services/recruiting/... ./services/platform/...
  PATH="$bin:$PATH" go test -count=1 -run '^TestStandalone$' ./tests/contract
  PATH="$bin:$PATH" go test -count=1 -run 'TestPostgreSQLIsTheOneAskedFor|TestStartsAgainAfterACrash|TestUsesGivenEngines|TestItsDatabaseIsStartedAgain' ./tests/operation
done
