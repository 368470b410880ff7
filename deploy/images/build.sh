#!/usr/bin/env bash
# Builds all images, or the named ones: deploy/images/build.sh [IMAGE...].
# With buildah, an image is also a file, build/images/IMAGE.tar (an OCI archive), for
# clusters without a registry; with Docker it is in Docker's own store.
#
#   REPOSITORY  the repository of the images    localhost/rotaloom
#   TAG         their tag                       the version (tools/version.sh)
#
# The same commit gives the same image: the programs contain no paths, and all times are
# the time of the commit.
set -euo pipefail
cd "$(dirname "$0")/../.."

all=(auth commons timekeeping scheduling propagator recruiting platform gateway rotaloom)
images=("${@:-${all[@]}}")
repository=${REPOSITORY:-localhost/rotaloom}
commit=$(git rev-parse HEAD)
version=$(tools/version.sh)
tag=${TAG:-$version}
when=$(git log -1 --format=%ct)
context=build/images/context

command_of() {
  case $1 in
    gateway) echo ./gateway/cmd/gateway ;;
    propagator) echo ./services/scheduling/cmd/propagator ;;
    rotaloom) echo ./services/standalone/cmd/rotaloom ;;
    *) echo "./services/$1/cmd/$1" ;;
  esac
}

builder() {
  if command -v buildah >/dev/null; then echo buildah; return; fi
  if command -v docker >/dev/null && docker info >/dev/null 2>&1; then echo docker; return; fi
  echo "Neither buildah nor a running Docker is here: run tools/need-buildah.sh." >&2
  exit 1
}

with=$(builder)
mkdir -p "$context"
sbom=$PWD/build/sbom
GOWORK=off go -C tools/sbom build -o "$sbom" .

for image in "${images[@]}"; do
  [[ " ${all[*]} " == *" $image "* ]] || { echo "There is no image $image; there are: ${all[*]}" >&2; exit 2; }
  CGO_ENABLED=0 GOOS=linux go build -trimpath -buildvcs=true -ldflags="-s -w -buildid=$(tools/version.sh --flags)" -o "$context/$image" "$(command_of "$image")"
  "$sbom" "$context/$image" >"$context/$image.cdx.json"
  # The modes and times of files are part of a layer.
  chmod 0755 "$context/$image"; chmod 0644 "$context/$image.cdx.json"
  labels=(--label "org.opencontainers.image.title=rotaloom-$image" --label "org.opencontainers.image.version=$version" --label "org.opencontainers.image.revision=$commit")
  name=$repository/$image:$tag
  if [ "$with" = buildah ]; then
    archive=build/images/$image.tar
    rm -f "$archive"
    buildah --storage-driver vfs --root build/images/store --runroot build/images/run bud -q --isolation chroot --timestamp "$when" "${labels[@]}" --target "$image" \
      -f deploy/images/Containerfile -t "$name" "$context" >/dev/null
    buildah --storage-driver vfs --root build/images/store --runroot build/images/run push -q "$name" "oci-archive:$archive:$name" 2>/dev/null
    digest=$(buildah --storage-driver vfs --root build/images/store --runroot build/images/run inspect --type image --format '{{.FromImageDigest}}' "$name")
  else
    SOURCE_DATE_EPOCH=$when docker build -q "${labels[@]}" --target "$image" -f deploy/images/Containerfile -t "$name" "$context" >/dev/null
    digest=$(docker inspect --format '{{.Id}}' "$name")
  fi
  printf '%-40s %s  %s bytes\n' "$name" "$digest" "$(stat -c %s "$context/$image")"
done
