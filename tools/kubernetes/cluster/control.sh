#!/usr/bin/env bash
# The first process of a cluster, in namespaces of its own (run.sh): starts etcd, the API
# server and the controllers, two nodes and the names' server, and then runs a command.
#
#   control.sh COMMAND [ARGUMENT...]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$ROTALOOM_CLUSTER
address=10.250.0.1
services=10.96.0.0/16
pods=10.244.0.0/16

fail() { echo "cluster: $*; see build/kubernetes/log" >&2; exit 1; }
# start NAME PROGRAM [ARGUMENT...]
start() { "${@:2}" >"$work/log/$1.log" 2>&1 & }
# until_ready WHAT COMMAND [ARGUMENT...] waits for three minutes at most.
until_ready() {
  local what=$1 end=$((SECONDS + 180))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || fail "$what does not get ready"
    sleep 0.3
  done
}

mkdir -p "$work"/{log,pki,etcd,sysctl,volumes}
chmod 700 "$work/etcd"
# The mounts of this machine are not visible in the cluster, and the other way round.
for folder in /run /var/lib /var/log; do mount -t tmpfs tmpfs "$folder"; done
mkdir /run/netns
# The command may give names to addresses.
cp /etc/hosts "$work/hosts"
mount --bind "$work/hosts" /etc/hosts
# A kubelet insists on writing three settings of the whole machine. It gets files that already contain its
# values.
for setting in kernel/panic=10 kernel/panic_on_oops=1 vm/overcommit_memory=1; do
  file=$work/sysctl/$(basename "${setting%=*}")
  echo "${setting#*=}" >"$file"
  mount --bind "$file" "/proc/sys/${setting%=*}"
done

# Nothing of a cluster outlives it, so it needs no disk.
mount -t tmpfs tmpfs "$work/volumes"

ip link set lo up
ip link add nodes type bridge
ip addr add "$address/24" dev nodes
ip link set nodes up
echo 1 >/proc/sys/net/ipv4/ip_forward
"$here/pki.sh" "$work/pki" "$address" node1=10.250.0.11 node2=10.250.0.12
pki=$work/pki

start etcd etcd --data-dir "$work/etcd" --unsafe-no-fsync --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
  --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 --initial-cluster default=http://127.0.0.1:2380
start kube-apiserver kube-apiserver --etcd-servers=http://127.0.0.1:2379 --advertise-address="$address" --secure-port=6443 --service-cluster-ip-range="$services" \
  --tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" --client-ca-file="$pki/ca.crt" \
  --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --allow-privileged=true \
  --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$pki/accounts.pub" --service-account-signing-key-file="$pki/accounts.key" \
  --kubelet-client-certificate="$pki/kubelets.crt" --kubelet-client-key="$pki/kubelets.key" --kubelet-certificate-authority="$pki/ca.crt" \
  --kubelet-preferred-address-types=InternalIP
# Controllers that start before the server has made its roles end at once.
until_ready "the API server" kubectl get --raw /readyz
start kube-controller-manager kube-controller-manager --kubeconfig="$pki/controllers.kubeconfig" --authentication-kubeconfig="$pki/controllers.kubeconfig" \
  --authorization-kubeconfig="$pki/controllers.kubeconfig" --root-ca-file="$pki/ca.crt" --service-account-private-key-file="$pki/accounts.key" \
  --use-service-account-credentials=true --leader-elect=false
start kube-scheduler kube-scheduler --kubeconfig="$pki/scheduler.kubeconfig" --authentication-kubeconfig="$pki/scheduler.kubeconfig" \
  --authorization-kubeconfig="$pki/scheduler.kubeconfig" --leader-elect=false

for number in 1 2; do
  node=node$number
  ip netns add "$node"
  ip link add "$node" type veth peer name up0 netns "$node"
  ip link set "$node" master nodes
  ip link set "$node" up
  ip route add "10.244.$number.0/24" via "10.250.0.1$number"
  start "$node" nsenter --net="/run/netns/$node" unshare --mount --pid --fork --kill-child --mount-proc --propagation private \
    "$here/node.sh" "$node" "$number" "$pods"
done
# The node implements services; the command reaches them through the first node.
ip route add "$services" via 10.250.0.11
for node in node1 node2; do
  until_ready "$node" kubectl wait --for=condition=Ready "node/$node" --timeout=10s
  kubectl label node "$node" "topology.kubernetes.io/zone=${node/node/zone}" >/dev/null
done
kubectl apply -f "$here/dns.yaml" >/dev/null
until_ready "the names' server" kubectl -n kube-system rollout status deployment/coredns --timeout=10s
echo "The cluster is ready after $SECONDS seconds." >&2

status=0
"$@" || status=$?
exit "$status"
