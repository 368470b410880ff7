#!/usr/bin/env bash
# Creates the secrets that compose.yaml needs, in deploy/compose/secrets: certificates, the passwords of
# databases and broker, the key of auth and the first administrator. Existing files are kept.
set -euo pipefail
cd "$(dirname "$0")"
root=../..
secrets=$PWD/secrets
umask 077
mkdir -p "$secrets"/{database,urls,administrator}

(cd $root && go build -o build/rotaloom ./services/standalone/cmd/rotaloom)
# One certificate serves clients, PostgreSQL and NATS.
$root/build/rotaloom certs "$secrets/certs" --host postgres --host nats >/dev/null
# PostgreSQL and NATS run as their own users; the files that they may read are copied at their start.

random() { head -c 24 /dev/urandom | base64 | tr -d '/+=\n'; }
once() { [ -s "$2" ] || printf '%s' "$1" >"$2"; }

once "$(random)" "$secrets/database/postgres"
for service in auth commons timekeeping scheduling recruiting platform; do
  once "$(random)" "$secrets/database/$service"
  once "postgres://$service:$(cat "$secrets/database/$service")@postgres:5432/$service?sslmode=verify-full&sslrootcert=/secrets/certs/ca.pem" "$secrets/urls/$service-database"
done
users=$($root/build/rotaloom nats-permissions)
for program in auth commons timekeeping scheduling propagator recruiting platform; do
  # A leading letter: the broker would make a number of digits.
  once "tls://$program:p$(random)@nats:4222" "$secrets/urls/$program-nats"
  password=$(sed -E 's|.*:(p[^@]*)@.*|\1|' "$secrets/urls/$program-nats")
  users=${users//\$NATS_PASSWORD_${program^^}/\"$password\"}
done
cat >"$secrets/nats.conf" <<END
port: 4222
max_payload: 8MB
tls { cert_file: /run/tls/localhost.pem, key_file: /run/tls/localhost-key.pem }
jetstream { store_dir: /data, sync_interval: always }
$users
END
once "$(head -c 32 /dev/urandom | base64)" "$secrets/key-encryption"
once admin "$secrets/administrator/username"
once "$(random)" "$secrets/administrator/password"
once local "$secrets/administrator/client-id"
once "$(random)" "$secrets/administrator/client-secret"

printf 'ROTALOOM_UID=%s\nROTALOOM_GID=%s\n' "$(id -u)" "$(id -g)" >"$secrets/compose.env"
echo "deploy/compose/secrets is made. Start with:"
echo "  docker compose --env-file deploy/compose/secrets/compose.env -f deploy/compose.yaml up"
