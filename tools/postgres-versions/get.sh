#!/usr/bin/env bash
# get.sh MAJOR SUITE: prints the folder of initdb and postgres of a major version of
# PostgreSQL, unpacked from the packages of a suite of Debian. Nothing is installed, and
# nothing of the machine's own libraries is used: apt works on a state of its own, and the
# programs are told to find their libraries, and the loader, beside them. Needs apt and
# dpkg-deb, no root. The second time nothing is fetched.
set -euo pipefail

major=${1:?usage: get.sh MAJOR SUITE} suite=${2:?usage: get.sh MAJOR SUITE}
for program in apt-get dpkg-deb; do
  command -v $program >/dev/null || { echo "get.sh: $program is missing: this works on Debian and what is made from it." >&2; exit 1; }
done
# Root runs PostgreSQL as another user, who needs access to the folder.
root=${ROTALOOM_TEST_POSTGRES_DIR:-/var/tmp/rotaloom-postgres-$(id -u)}/$major
bin=$root/usr/lib/postgresql/$major/bin
if [ -e "$root/complete" ]; then echo "$bin"; exit 0; fi

mkdir -p "$(dirname "$root")"
[ -O "$(dirname "$root")" ] || { echo "get.sh: $(dirname "$root") is somebody else's." >&2; exit 1; }
exec 9>"$(dirname "$root")/lock"; flock 9
if [ -e "$root/complete" ]; then echo "$bin"; exit 0; fi
rm -rf "$root"
apt=$root/apt
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
touch "$apt/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${DEBIAN_MIRROR:-http://deb.debian.org/debian} $suite main" >"$apt/sources.list"
options=(-qq -y -o Dir::Etc::sourcelist="$apt/sources.list" -o Dir::Etc::sourceparts=- -o Dir::Etc::parts=-
  -o Dir::State="$apt" -o Dir::State::status="$apt/status" -o Dir::Cache="$apt/cache"
  -o Debug::NoLocking=1 -o APT::Sandbox::User= -o Acquire::Languages=none -o APT::Install-Recommends=false)
echo "Fetching PostgreSQL $major of Debian $suite." >&2
apt-get "${options[@]}" update >&2
# Its libraries with all that they need, and not what makes a cluster of the system.
mapfile -t libraries < <(apt-cache "${options[@]:2}" depends --important "postgresql-$major" | awk '$1 == "Depends:" && $2 ~ /^lib/ {print $2}')
[ ${#libraries[@]} -gt 0 ] || { echo "get.sh: Debian $suite has no postgresql-$major." >&2; exit 1; }
apt-get "${options[@]}" install --download-only "${libraries[@]}" tzdata patchelf >&2
(cd "$apt/cache/archives" && apt-get "${options[@]}" download "postgresql-$major" >&2)
for package in "$apt"/cache/archives/*.deb; do dpkg-deb --extract "$package" "$root"; done

loader=$(find "$root" -name 'ld-linux*.so.*' -type f | head -n 1)
mkdir -p "$root/lib" # Where older suites have some of them.
libs=$(find "$root/usr/lib" "$root/lib" -maxdepth 1 -type d -name '*-linux-gnu*' | paste -sd:)
for program in postgres initdb; do
  "$loader" --library-path "$libs" "$root/usr/bin/patchelf" --set-interpreter "$loader" --force-rpath --set-rpath "$libs" "$bin/$program"
done
"$bin/postgres" --version >&2
rm -rf "$apt"
touch "$root/complete"
echo "$bin"
