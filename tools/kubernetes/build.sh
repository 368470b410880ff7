#!/usr/bin/env bash
# Builds etcd and the API server of Kubernetes, once for each state of this module, into a
# cache outside the repository, and prints the folder. The first time takes minutes.
#
#   ROTALOOM_KUBERNETES_CACHE  where  ~/.cache/rotaloom-kubernetes
set -euo pipefail
cd "$(dirname "$0")"

cache=${ROTALOOM_KUBERNETES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rotaloom-kubernetes}
state=$({ cat go.mod go.sum build.sh; go env GOVERSION GOOS GOARCH; } | sha256sum | cut -c1-16)
bin=$cache/$state
mkdir -p "$cache"
# Two that build at once would load the machine twice.
exec 9>"$cache/lock"; flock 9
export GOWORK=off CGO_ENABLED=0

version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
IFS=. read -r major minor _ <<<"${version#v}"
# The server says this version, and derives from it which features it has.
stamp="-X k8s.io/component-base/version.gitVersion=$version -X k8s.io/component-base/version.gitMajor=$major -X k8s.io/component-base/version.gitMinor=$minor"

build() { # name package
  [ -x "$bin/$1" ] && return
  echo "Building $1. It is built once, and takes minutes." >&2
  mkdir -p "$bin"
  nice -n 19 go build -trimpath -ldflags "-s -w $stamp" -o "$bin/$1.new" "$2"
  mv "$bin/$1.new" "$bin/$1"
}
build etcd go.etcd.io/etcd/server/v3
build kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver
echo "$bin"
