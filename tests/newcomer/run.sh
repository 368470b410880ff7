#!/usr/bin/env bash
# README as a newcomer meets it: a bare Debian 12, Go and make, no PostgreSQL, no module
# cache, a user who is not root, and a checkout in a path with a space. README's commands
# run as they stand there. NEWCOMER_TEST=all runs all of `make test` as well, which takes
# long; otherwise one package's tests stand for it.
#
# Needs root (for the chroot) and debootstrap. Everything is in one folder, which is
# removed at the end, and only processes that run in it are ended.
set -euo pipefail
cd "$(dirname "$0")/../.."

fail() { echo "newcomer: $*" >&2; exit 1; }
step() { printf '== %s (%ds)\n' "$*" "$SECONDS"; }

[ "$(id -u)" -eq 0 ] || fail 'needs root, for the bare system in a folder'
if ! command -v debootstrap >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
fi
if (exec 3<>/dev/tcp/127.0.0.1/8443) 2>/dev/null; then fail 'port 8443, which README names, is in use'; fi

work=$(mktemp -d "${TMPDIR:-/var/tmp}/rotaloom-newcomer.XXXXXX")
root=$work/root
home=/home/newcomer
checkout="$home/my checkout"

# end_inside sends a signal to all processes whose root is the folder.
end_inside() {
  for dir in /proc/[0-9]*; do
    [ "$(readlink "$dir/root" 2>/dev/null)" = "$root" ] && kill "-$1" "${dir#/proc/}" 2>/dev/null
  done
  return 0
}
clean() {
  end_inside TERM; sleep 2; end_inside KILL
  for mount in proc usr/local/go; do mountpoint -q "$root/$mount" && umount -l "$root/$mount"; done
  rm -rf --one-file-system "$work"
}
trap clean EXIT

step 'a bare system'
debootstrap --variant=minbase --include=ca-certificates,curl,git,make,procps,sudo bookworm "$root" \
  "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$work/debootstrap.log" 2>&1 || { tail "$work/debootstrap.log"; exit 1; }
cp /etc/resolv.conf "$root/etc/resolv.conf"
echo "127.0.0.1 localhost $(hostname)" >"$root/etc/hosts"
# Whatever authorities this machine trusts for its package registries.
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
mkdir -p "$root/usr/local/go"
mount --bind -o ro "$(go env GOROOT)" "$root/usr/local/go"
mount -t proc proc "$root/proc"
chroot "$root" mknod -m 666 /dev/null c 1 3 2>/dev/null || true
chroot "$root" useradd --create-home --shell /bin/bash newcomer
mkdir -p "$root$checkout"
git ls-files -z | tar --null --files-from=- -cf - | tar -C "$root$checkout" -xf -
chroot "$root" chown -R newcomer: "$home"

cat >"$root$home/.profile" <<END
export PATH=/usr/local/go/bin:\$PATH GOPROXY=$(go env GOPROXY) GOSUMDB='$(go env GOSUMDB)'
END

# as runs commands as the newcomer, in the checkout.
as() { chroot "$root" su - newcomer -c "cd '$checkout' && $1"; }

step 'make run without PostgreSQL and without sudo says what to do, before it builds'
began=$SECONDS
if as 'make run' >"$work/out" 2>&1; then fail 'make run did not fail'; fi
[ $((SECONDS - began)) -lt 30 ] || fail "it took $((SECONDS - began)) seconds to say so"
grep -q 'apt-get install --no-install-recommends postgresql' "$work/out" || { cat "$work/out"; fail 'it does not say what to install'; }
if as 'make slapd' >"$work/out" 2>&1; then fail 'make slapd did not fail'; fi
grep -q 'apt-get install --no-install-recommends slapd' "$work/out" || { cat "$work/out"; fail 'it does not say what to install'; }

step 'make run'
echo 'newcomer ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/newcomer"
as 'exec make run' >"$work/run.log" 2>&1 &
make_run=$!
until grep -q '^Rotaloom is serving https://127.0.0.1:8443' "$work/run.log"; do
  kill -0 "$make_run" 2>/dev/null || { cat "$work/run.log"; fail 'make run ended'; }
  [ "$SECONDS" -lt 2400 ] || { cat "$work/run.log"; fail 'make run takes too long'; }
  sleep 1
done
cat "$work/run.log"
if [ -n "$(ls -A "$root/etc/postgresql" 2>/dev/null)" ]; then fail 'a cluster of the system was made as a side effect'; fi

step "README's first session, with HTTP/1.1 and HTTP/2"
awk '/^## /{on=0} /^## A first session/{on=1} on' README.md | sed -n 's/^    //p' >"$work/session.sh"
grep -q multi_read "$work/session.sh" || fail 'README has no first session'
cp "$work/session.sh" "$root$home/session.sh"
for version in http1.1 http2; do
  echo "$version" >"$root$home/.curlrc"
  as "bash -euo pipefail '$home/session.sh'" >"$work/out" 2>&1 || { cat "$work/out"; fail "the session fails over $version"; }
  grep -q '"shifts":\[{' "$work/out" && grep -q '"state":"' "$work/out" || { cat "$work/out"; fail "the session shows nothing over $version"; }
done

step 'Ctrl-C ends it quietly'
before=$(wc -l <"$work/run.log")
pkill_server=$(pgrep -f '^bin/rotaloom serve --demo --listen 127.0.0.1:8443' | while read -r pid; do
  [ "$(readlink "/proc/$pid/root")" = "$root" ] && echo "$pid"; done)
[ -n "$pkill_server" ] || fail 'the server is not there'
kill -INT $pkill_server
wait "$make_run" || { tail "$work/run.log"; fail 'make run ended badly'; }
[ "$(wc -l <"$work/run.log")" -eq "$before" ] || { tail "$work/run.log"; fail 'it said something at its end'; }

if [ "${NEWCOMER_TEST:-one}" = all ]; then
  step 'make test'
  as 'make test' || fail 'make test fails'
else
  step 'the tests of one package, with their PostgreSQL'
  as 'make test-one PKG=./pkg/pg RUN=TestConcurrentMigrators' || fail 'make test-one fails'
  if as 'make test-one PKG=./pkg/pg RUN=TestThatIsNowhere' >"$work/out" 2>&1; then fail 'a pattern that matches nothing did not fail'; fi
  grep -q "No test of ./pkg/pg matches 'TestThatIsNowhere'" "$work/out" || { cat "$work/out"; fail 'it does not say why'; }
fi
step 'done'
echo '1 passed, 0 failed'
