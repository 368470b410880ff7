#!/bin/sh
# PostgreSQL's image runs it once, on an empty data folder. Each service owns its database,
# and cannot connect to another one.
set -eu
for service in auth commons timekeeping scheduling recruiting platform; do
  psql -v ON_ERROR_STOP=1 -v service="$service" -v password="$(cat "/run/passwords/$service")" --username postgres <<'SQL'
CREATE ROLE :"service" LOGIN PASSWORD :'password';
CREATE DATABASE :"service" OWNER :"service";
REVOKE CONNECT ON DATABASE :"service" FROM PUBLIC;
SQL
done
