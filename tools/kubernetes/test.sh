#!/usr/bin/env bash
# make kube-test: the product's images in a fresh cluster, installed by the chart. The first
# time takes some ten minutes of building more.
#
#   ROTALOOM_KUBE_EMPLOYEES  how many a change concerns while propagators come and go  100000
#   ROTALOOM_KUBE_STEPS      a regular expression: only these steps after the first session
set -euo pipefail
cd "$(dirname "$0")/../.."

[ "$(id -u)" -eq 0 ] || { echo "make kube-test needs root: nodes have namespaces and groups of processes of their own. Run it as root, best on a machine for tests." >&2; exit 1; }
tools/need-kubernetes.sh
tools/need-postgres.sh
tools/kubernetes/cluster/images.sh
TAG=test deploy/images/build.sh auth commons timekeeping scheduling propagator recruiting platform gateway
GOWORK=off go -C deploy/tests build -o "$PWD/build/kubernetes/bin/helm" helm.sh/helm/v3/cmd/helm
go test -c -tags kubecluster -o build/kubernetes/cluster.test ./tests/kubernetes
go build -o bin/test/ ./services/standalone/cmd/rotaloom
export PATH="$PWD/build/kubernetes/bin:$PATH"
cd tests/kubernetes
exec ../../tools/kubernetes/cluster/run.sh ../../build/kubernetes/cluster.test -test.v -test.timeout 90m
