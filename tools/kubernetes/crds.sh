#!/usr/bin/env bash
# Prints the folders with the custom resource definitions of operators, one per line: cert-manager, KEDA, the
# Gateway API and the Prometheus operator, from their Go modules at the versions below.
# CloudNativePG is not available as a Go module: ROTALOOM_KUBERNETES_CRDS names folders of
# further definitions, separated by colons.
set -euo pipefail
cd "$(dirname "$0")"
export GOWORK=off

dir_of() { go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p'; }

while read -r module folder; do
  echo "$(dir_of "$module")/$folder"
done <<'END'
github.com/cert-manager/cert-manager@v1.21.2 deploy/crds
github.com/kedacore/keda/v2@v2.21.0 config/crd/bases
sigs.k8s.io/gateway-api@v1.6.3 config/crd/standard
github.com/prometheus-operator/prometheus-operator@v0.85.0 example/prometheus-operator-crd
END
tr ':' '\n' <<<"${ROTALOOM_KUBERNETES_CRDS:-}" | sed '/^$/d'
