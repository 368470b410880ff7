#!/usr/bin/env bash
# Makes the archives and Debian packages of rotaloom, with their bills of materials and
# checksums, in build/dist: tools/dist.sh [ARCH...]. The same commit gives the same bytes:
# the program contains no paths, and all times are the time of the commit.
set -euo pipefail
cd "$(dirname "$0")/.."

arches=("${@:-amd64 arm64}")
read -ra arches <<<"${arches[*]}"
version=$(tools/version.sh)
when=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH=$when VERSION=$version
out=build/dist
rm -rf "$out"
mkdir -p "$out"
trap 'rm -rf "$out"/stage-*' EXIT
nfpm=$(GOWORK=off go -C tools/nfpm tool -n nfpm)
GOWORK=off go -C tools/sbom build -o "$PWD/build/sbom" .

# copy_licences copies the licences of Go and of all modules in the program, and their notices.
copy_licences() { # ARCH FOLDER
  mkdir -p "$2/go"
  cp "$(go env GOROOT)/LICENSE" "$2/go/"
  GOOS=linux GOARCH=$1 go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}}	{{.Dir}}{{end}}{{end}}' ./services/standalone/cmd/rotaloom | sort -u |
    while IFS=$'\t' read -r module folder; do
      mkdir -p "$2/$module"
      find "$folder" -maxdepth 1 -type f -iregex '.*/\(licen[cs]e\|copying\|notice\|patents\)[^/]*' -exec cp --no-preserve=mode {} "$2/$module/" \;
      [ -n "$(ls "$2/$module")" ] || { echo "dist: $module has no licence file." >&2; exit 1; }
    done
}

for arch in "${arches[@]}"; do
  name=rotaloom-$version-linux-$arch
  stage=$out/stage-$arch
  mkdir -p "$stage/share"
  CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath -buildvcs=true -ldflags="-s -w -buildid=$(tools/version.sh --flags)" \
    -o "$stage/rotaloom" ./services/standalone/cmd/rotaloom
  build/sbom "$stage/rotaloom" >"$out/$name.cdx.json"
  cp README.md CHANGELOG.md SECURITY.md deploy/debian/copyright "$stage/share/"
  git archive HEAD docs | tar -x -C "$stage/share"
  cp "$out/$name.cdx.json" "$stage/share/rotaloom.cdx.json"
  copy_licences "$arch" "$stage/share/licences"
  cp deploy/systemd/rotaloom.service deploy/debian/sysusers.conf deploy/debian/rotaloom.yaml "$stage/"
  # The modes and times of files are part of archives.
  chmod -R u=rwX,go=rX "$stage"
  chmod 0755 "$stage/rotaloom"
  find "$stage" -exec touch --no-dereference --date="@$when" {} +
  ARCH=$arch STAGE=$stage "$nfpm" package --config deploy/debian/nfpm.yaml --packager deb --target "$out/$name.deb" >"$out/nfpm.log" || { cat "$out/nfpm.log"; exit 1; }
  tar --create --directory "$stage" --transform "s|^\.|$name|" --sort=name --mtime="@$when" --owner=0 --group=0 --numeric-owner --format=gnu . |
    gzip --no-name --best >"$out/$name.tar.gz"
  rm -rf "$stage" "$out/nfpm.log"
done
cd "$out"
sha256sum rotaloom-* >SHA256SUMS
cat SHA256SUMS
