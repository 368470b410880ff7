#!/usr/bin/env bash
# Makes the certificates of a cluster, from an authority that lives as long as it does, and
# the kubeconfigs that use them: pki.sh FOLDER ADDRESS NODE=ADDRESS...
set -euo pipefail
folder=$1 address=$2
shift 2
cd "$folder"

key() { openssl ecparam -genkey -name prime256v1 -noout -out "$1.key"; }
key ca
openssl req -x509 -new -key ca.key -days 7 -subj /CN=cluster -out ca.crt

# certificate NAME SUBJECT [ALTERNATIVE_NAMES]
certificate() {
  key "$1"
  printf 'basicConstraints=CA:FALSE\nkeyUsage=digitalSignature\nextendedKeyUsage=serverAuth,clientAuth\n%s\n' "${3:+subjectAltName=$3}" >"$1.ext"
  openssl req -new -key "$1.key" -subj "$2" |
    openssl x509 -req -CA ca.crt -CAkey ca.key -CAcreateserial -days 7 -extfile "$1.ext" -out "$1.crt" 2>/dev/null
}

# kubeconfig NAME [SUBJECT]
kubeconfig() {
  [ $# -eq 1 ] || certificate "$1" "$2"
  cat >"$1.kubeconfig" <<END
apiVersion: v1
kind: Config
current-context: cluster
contexts: [{name: cluster, context: {cluster: cluster, user: $1}}]
clusters: [{name: cluster, cluster: {server: "https://$address:6443", certificate-authority: $folder/ca.crt}}]
users: [{name: $1, user: {client-certificate: $folder/$1.crt, client-key: $folder/$1.key}}]
END
}

certificate apiserver /CN=kube-apiserver "DNS:kubernetes.default.svc,IP:127.0.0.1,IP:10.96.0.1,IP:$address"
certificate kubelets /O=system:masters/CN=kube-apiserver-kubelet-client
kubeconfig admin /O=system:masters/CN=administrator
kubeconfig controllers /CN=system:kube-controller-manager
kubeconfig scheduler /CN=system:kube-scheduler
kubeconfig proxy /CN=system:kube-proxy
for node in "$@"; do
  certificate "${node%=*}" "/O=system:nodes/CN=system:node:${node%=*}" "DNS:${node%=*},IP:${node#*=}"
  kubeconfig "${node%=*}"
done
openssl genrsa -out accounts.key 2048
openssl rsa -in accounts.key -pubout -out accounts.pub 2>/dev/null
