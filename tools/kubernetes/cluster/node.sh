#!/usr/bin/env bash
# The first process of a node: containerd, the kubelet and kube-proxy.
#
#   node.sh NAME NUMBER NETWORK_OF_PODS
set -euo pipefail
name=$1 number=$2 pods=$3
build=$(cd "$(dirname "$0")/../../../build" && pwd)
work=$ROTALOOM_CLUSTER
pki=$work/pki
own=$work/$name
other=$((3 - number))
address=10.250.0.1$number

mkdir -p "$own"/{containerd,kubelet,cni,pods}
mount --make-rshared /
for folder in /run /var/log; do mount -t tmpfs tmpfs "$folder"; done
mkdir -p /var/lib/kubelet /run/containerd /run/netns
mount --bind "$own/kubelet" /var/lib/kubelet
mount -t tmpfs tmpfs "$own/containerd"
ip link set lo up
ip addr add "$address/24" dev up0
ip link set up0 up
ip route add default via 10.250.0.1
ip route add "10.244.$other.0/24" via "10.250.0.1$other"
echo 1 >/proc/sys/net/ipv4/ip_forward

cat >"$own/containerd.toml" <<END
version = 2
root = "$own/containerd"
state = "/run/containerd/state"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/rotaloom/pause:test"
  # Not every machine lets a process protect itself from the killer of processes.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$own/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
END
cat >"$own/cni/10-pods.conflist" <<END
{"cniVersion": "1.0.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "pods", "isGateway": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "dataDir": "/run/cni", "ranges": [[{"subnet": "10.244.$number.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
END
cat >"$own/kubelet.yaml" <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: cgroupfs
cgroupRoot: /${work##*/}/$name
failCgroupV1: false
failSwapOn: false
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
podLogsDir: $own/pods
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
resolvConf: $own/resolv.conf
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $pki/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: $pki/$name.crt
tlsPrivateKeyFile: $pki/$name.key
# Secrets that change are in pods after seconds; the default takes a minute.
syncFrequency: 10s
# Pods must not move to the other node because this machine is short of disk space.
evictionHard: {memory.available: 100Mi, nodefs.available: 0%, imagefs.available: 0%, nodefs.inodesFree: 0%, imagefs.inodesFree: 0%}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
END
cat >"$own/proxy.yaml" <<END
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
clientConnection: {kubeconfig: $pki/proxy.kubeconfig}
mode: nftables
clusterCIDR: $pods
hostnameOverride: $name
conntrack: {maxPerCore: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
END
# No name outside the cluster is known.
echo "nameserver 10.250.0.1" >"$own/resolv.conf"

containerd -c "$own/containerd.toml" >"$work/log/$name-containerd.log" 2>&1 &
until [ -S /run/containerd/containerd.sock ]; do sleep 0.1; done
for archive in "$build"/images/*.tar "$build"/kubernetes/images/*.tar; do ctr -n k8s.io images import "$archive"; done
# For upgrades: the same programs under another name.
ctr -n k8s.io images ls -q | grep '^localhost/' | while read -r image; do ctr -n k8s.io images tag --force "$image" "${image%:*}:next"; done
kubelet --config="$own/kubelet.yaml" --kubeconfig="$pki/$name.kubeconfig" --hostname-override="$name" --node-ip="$address" \
  --cert-dir="$own/pki" >"$work/log/$name-kubelet.log" 2>&1 &
kube-proxy --config="$own/proxy.yaml" >"$work/log/$name-proxy.log" 2>&1 &
wait
