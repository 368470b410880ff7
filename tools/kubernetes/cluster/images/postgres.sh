#!/bin/sh
# The features of the official image that the chart relies on: PGDATA, POSTGRES_PASSWORD_FILE, scripts that
# run once, and arguments of the server.
set -eu
if ! [ -s "$PGDATA/PG_VERSION" ]; then
  initdb -D "$PGDATA" -U postgres --pwfile="$POSTGRES_PASSWORD_FILE" --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8
  pg_ctl -D "$PGDATA" -o "-c listen_addresses=''" -w start
  for script in /docker-entrypoint-initdb.d/*.sh; do . "$script"; done
  pg_ctl -D "$PGDATA" -m fast -w stop
fi
exec postgres -c listen_addresses='*' "$@"
