#!/usr/bin/env bash
# Builds programs of Kubernetes, once for each state of this module, into a cache outside
# the repository, and prints the folder. The first time takes minutes.
#
#   tools/kubernetes/build.sh          etcd and the API server
#   tools/kubernetes/build.sh cluster  those and the rest of a cluster of one node
#
#   ROTALOOM_KUBERNETES_CACHE  where  ~/.cache/rotaloom-kubernetes
set -euo pipefail
cd "$(dirname "$0")"

cache=${ROTALOOM_KUBERNETES_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rotaloom-kubernetes}
state=$({ cat go.mod go.sum build.sh coredns/main.go; go env GOVERSION GOOS GOARCH; } | sha256sum | cut -c1-16)
bin=$cache/$state
mkdir -p "$cache"
# Two that build at once would load the machine twice.
exec 9>"$cache/lock"; flock 9
export GOWORK=off CGO_ENABLED=0

version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
IFS=. read -r major minor _ <<<"${version#v}"
# The programs say this version, and derive from it which features they have.
stamp=
for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
  stamp+=" -X $package.gitVersion=$version -X $package.gitMajor=$major -X $package.gitMinor=$minor"
done

build() { # name package [flag]
  [ -x "$bin/$1" ] && return
  echo "Building $1. It is built once, and takes minutes." >&2
  mkdir -p "$bin"
  go build "${@:3}" -trimpath -ldflags "-s -w $stamp" -o "$bin/$1.new" "$2"
  mv "$bin/$1.new" "$bin/$1"
}
build etcd go.etcd.io/etcd/server/v3
build kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver
if [ "${1:-}" = cluster ]; then
  for program in kube-controller-manager kube-scheduler kubelet kube-proxy kubectl; do
    build "$program" "k8s.io/kubernetes/cmd/$program"
  done
  # The CoreDNS that needs no newer versions than Kubernetes itself sets one field that the
  # client of this Kubernetes no longer has.
  patched=$(mktemp -d)
  trap 'rm -rf "$patched"' EXIT
  go mod download github.com/coredns/coredns # Otherwise go list knows no folder on a fresh machine.
  cp -r "$(go list -m -f '{{.Dir}}' github.com/coredns/coredns)" "$patched/coredns"
  chmod -R u+w "$patched/coredns"
  sed -i '/RetryOnError:/d' "$patched/coredns/plugin/kubernetes/object/informer.go"
  cp go.mod go.sum "$patched"
  go mod edit -replace "github.com/coredns/coredns=$patched/coredns" "$patched/go.mod"
  build coredns ./coredns -modfile "$patched/go.mod"
fi
echo "$bin"
