#!/usr/bin/env bash
# README as a newcomer meets it: a bare Debian 12, Go and make, no PostgreSQL, no module
# cache, a user who is not root, and a checkout in a path with a space. README's commands
# run as they stand there. NEWCOMER_TEST=all runs all of `make test` as well, which takes
# long; otherwise one package's tests stand for it. NEWCOMER_TARGETS names further targets, one
# in each line with its variables, such as 'dist ARCH=amd64'; all of them run, also after a failure.
#
# Needs root (for mounts) and debootstrap. Everything is in one folder, which is removed at
# the end, and only processes that were started in it are ended.
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

# The bare system has namespaces of its own for mounts and processes, entered by pivot_root:
# in a chroot the kernel refuses user namespaces, which tests of full disks and the browser
# need. When its first process ends, all others and all mounts go with it.
clean() {
  if [ -n "${inside:-}" ]; then kill -KILL "$inside" 2>/dev/null || true; wait "${outside:-}" 2>/dev/null || true; fi
  rm -rf --one-file-system "$work"
}
trap clean EXIT

step 'a bare system'
debootstrap --variant=minbase --include=ca-certificates,curl,git,make,procps,sudo bookworm "$root" \
  "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" >"$work/debootstrap.log" 2>&1 || { tail "$work/debootstrap.log"; exit 1; }
cp /etc/resolv.conf "$root/etc/resolv.conf"
echo "127.0.0.1 localhost $(hostname)" >"$root/etc/hosts"
# The certificate authorities that this machine trusts for its package registries.
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
# The release files of a mirror that does not change expire.
if command -v apt-config >/dev/null; then apt-config dump Acquire::Check-Valid-Until >"$root/etc/apt/apt.conf.d/90mirror"; fi
chroot "$root" mknod -m 666 /dev/null c 1 3 2>/dev/null || true
chroot "$root" useradd --create-home --shell /bin/bash newcomer
mkdir -p "$root/usr/local/go" "$root/before"
# A clone, with the uncommitted changes of this checkout.
git clone -q "file://$PWD" "$root$checkout"
git diff --binary HEAD | git -C "$root$checkout" apply --allow-empty
chroot "$root" chown -R newcomer: "$home"

cat >"$root$home/.profile" <<END
export PATH=/usr/local/go/bin:\$PATH GOPROXY=$(go env GOPROXY) GOSUMDB='$(go env GOSUMDB)'
# Node.js of npm has authorities of its own.
export NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt$(command -v npm >/dev/null && echo " NPM_CONFIG_REGISTRY=$(npm config get registry)")
END

cat >"$work/first" <<END
set -eu
mount --bind '$root' '$root'
mount --bind -o ro '$(go env GOROOT)' '$root/usr/local/go'
mount -t proc proc '$root/proc'
mount --rbind /sys '$root/sys'
mount -t devpts devpts '$root/dev/pts'
cd '$root'
pivot_root . before
umount -l /before
exec </dev/null >/dev/null 2>&1
touch /entered
# Orphaned processes become children of this shell, which waits for them.
while :; do sleep 60 & wait; done
END
unshare --mount --pid --fork --kill-child --propagation private bash "$work/first" 2>"$work/first.log" &
outside=$!
until [ -e "$root/entered" ]; do
  kill -0 "$outside" 2>/dev/null || { cat "$work/first.log"; fail 'the bare system does not start'; }
  sleep 0.1
done
inside=$(pgrep -P "$outside")

# as runs commands as the newcomer, in the checkout.
as() { nsenter --target "$inside" --mount --pid --root --wd su - newcomer -c "cd '$checkout' && $1"; }

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
as "pkill -INT -f '^bin/rotaloom serve --demo --listen 127.0.0.1:8443'" || fail 'the server is not there'
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
failed=()
while read -r target; do
  [ -n "$target" ] || continue
  step "make $target"
  if as "make $target" >"$work/out" 2>&1 </dev/null; then
    tail -n 3 "$work/out"
  else
    grep -E -A 12 '^ *--- FAIL|^panic' "$work/out" || true # A failed test can be far from the end.
    tail -n 40 "$work/out"
    failed+=("$target")
  fi
done <<<"${NEWCOMER_TARGETS:-}"
[ "${#failed[@]}" -eq 0 ] || fail "these targets fail: $(printf '%s; ' "${failed[@]}")"
step 'done'
echo '1 passed, 0 failed'
