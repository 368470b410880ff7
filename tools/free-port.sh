#!/usr/bin/env bash
# Fails if a program listens on an address (host:port) already, before the build takes minutes.
set -euo pipefail
host=${1%:*} port=${1##*:}
if (exec 3<>"/dev/tcp/${host:-127.0.0.1}/$port") 2>/dev/null; then
  echo "Another program listens on $1. Stop it, or choose another address: make run LISTEN=127.0.0.1:9443" >&2
  exit 1
fi
