#!/usr/bin/env bash
# Installs the Debian package in a bare Debian 12, starts the program as its user with the packaged
# settings, asks /readyz, upgrades, and removes the package: tests/package/run.sh PACKAGE.deb
#
# Needs root and debootstrap. Systemd does not run in the bare system: the unit is verified, and its
# command is started by hand. Everything is in one folder, which is removed at the end.
set -euo pipefail
package=$(realpath "${1:?usage: tests/package/run.sh PACKAGE.deb}")

fail() { echo "package: $*" >&2; exit 1; }
step() { printf '== %s (%ds)\n' "$*" "$SECONDS"; }

[ "$(id -u)" -eq 0 ] || fail 'needs root, for the bare system in a folder'
if ! command -v debootstrap >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
fi
for port in 8443 9090; do
  if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then fail "port $port, which the packaged settings name, is in use"; fi
done

work=$(mktemp -d "${TMPDIR:-/var/tmp}/rotaloom-package.XXXXXX")
root=$work/root
clean() {
  if [ -n "${served:-}" ]; then kill -INT "$(cat "$root/run/rotaloom.pid")" 2>/dev/null || true; wait "$served" 2>/dev/null || true; fi
  umount "$root/proc" 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap clean EXIT

step 'a bare system'
debootstrap --variant=minbase --include=ca-certificates,curl,systemd bookworm "$root" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" \
  >"$work/log" 2>&1 || { tail "$work/log"; exit 1; }
cp /etc/resolv.conf "$root/etc/resolv.conf"
mount -t proc proc "$root/proc"
# Installing a package must not start services here.
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod +x "$root/usr/sbin/policy-rc.d"
bare() { chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"; }

step 'the package with its recommended PostgreSQL'
cp "$package" "$root/tmp/rotaloom.deb"
{ bare apt-get update -qq && bare apt-get install -y -qq /tmp/rotaloom.deb; } >"$work/log" 2>&1 || { tail "$work/log"; fail 'it cannot be installed'; }
bare rotaloom version
bare getent passwd rotaloom >/dev/null || fail 'the user was not created'
bare systemd-analyze verify /usr/lib/systemd/system/rotaloom.service || fail 'systemd refuses the unit'
bare systemd-analyze security --offline=true --threshold=20 /usr/lib/systemd/system/rotaloom.service >"$work/log" || { tail -n 3 "$work/log"; fail 'the unit is too exposed'; }
tail -n 1 "$work/log"
bare rotaloom config serve --config /etc/rotaloom/rotaloom.yaml >/dev/null

step 'the program as its user'
serve() {
  bare install -d -o rotaloom -g rotaloom -m 0700 /var/lib/rotaloom # systemd does this for StateDirectory.
  chroot --userspec=rotaloom:rotaloom "$root" /usr/bin/rotaloom serve --config /etc/rotaloom/rotaloom.yaml >"$work/serve.log" 2>&1 &
  served=$!
  echo "$served" >"$root/run/rotaloom.pid"
  until bare curl --silent --fail --max-time 5 http://127.0.0.1:9090/readyz; do
    kill -0 "$served" 2>/dev/null || { cat "$work/serve.log"; fail 'the program ended'; }
    [ "$SECONDS" -lt 900 ] || { cat "$work/serve.log"; fail 'the program is not ready in time'; }
    sleep 1
  done
}
end() {
  kill -INT "$served"
  wait "$served" || { tail "$work/serve.log"; fail 'the program ended badly'; }
  served=
}
serve
chroot --userspec=rotaloom:rotaloom "$root" /usr/bin/rotaloom user list --state-dir /var/lib/rotaloom
end

step 'an upgrade keeps the settings and the data'
echo '# a change' >>"$root/etc/rotaloom/rotaloom.yaml"
bare dpkg -i /tmp/rotaloom.deb >"$work/log" 2>&1 || { tail "$work/log"; fail 'it cannot be upgraded'; }
grep -q '# a change' "$root/etc/rotaloom/rotaloom.yaml" || fail 'the settings were replaced'
serve
end

step 'removal keeps the data'
bare dpkg -r rotaloom >"$work/log" 2>&1 || { tail "$work/log"; fail 'it cannot be removed'; }
[ ! -e "$root/usr/bin/rotaloom" ] || fail 'the program is still there'
[ -d "$root/var/lib/rotaloom/postgresql" ] || fail 'the data is gone'
step 'done'
