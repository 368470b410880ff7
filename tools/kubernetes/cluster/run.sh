#!/usr/bin/env bash
# Runs a command beside a new cluster of Kubernetes with two nodes, and removes the cluster
# when the command has ended: tools/kubernetes/cluster/run.sh COMMAND [ARGUMENT...]
#
# On this machine, only its processes, a folder and groups of processes (cgroups) are visible:
# the cluster has its own namespaces for processes, mounts and the network, and everything
# ends with its first process. The command runs in these namespaces, too. It finds
# kubectl on PATH, KUBECONFIG, and the cluster's folder as ROTALOOM_CLUSTER. The nodes have the
# images in build/images and build/kubernetes/images, each by its tag and as `next`.
# Logs go to build/kubernetes/log. Needs root.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../../.." && pwd)

[ $# -gt 0 ] || { sed -n '2,4p' "$0" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || { echo "A cluster needs root: it has namespaces and groups of processes of its own." >&2; exit 1; }
"$repository/tools/need-kubernetes.sh"
bin=$("$repository/tools/kubernetes/build.sh" cluster)

# A short path: sockets are in it.
work=$(mktemp -d /var/tmp/rotaloom-kube.XXXXXX)
group=${work##*/}
controllers=(/sys/fs/cgroup)
if ! [ -e /sys/fs/cgroup/cgroup.controllers ]; then # Version 1 has a hierarchy for each.
  controllers=()
  for controller in /sys/fs/cgroup/*/; do
    if [ -e "$controller/cgroup.procs" ] && ! [ -e "$controller/cgroup.controllers" ]; then controllers+=("${controller%/}"); fi
  done
fi

clean() {
  if [ -n "${outside:-}" ]; then
    kill -KILL "$outside" 2>/dev/null || true # Its child, the first process, goes with it.
    wait "$outside" 2>/dev/null || true
  fi
  mkdir -p "$repository/build/kubernetes"
  rm -rf "$repository/build/kubernetes/log"
  cp -r "$work/log" "$repository/build/kubernetes/log" 2>/dev/null || true
  # Processes take a moment to end.
  for _ in {1..100}; do
    find /sys/fs/cgroup -depth -type d -path "*/$group*" -exec rmdir {} + 2>/dev/null || true
    [ -z "$(find /sys/fs/cgroup -maxdepth 2 -name "$group")" ] && break
    sleep 0.1
  done
  rm -rf --one-file-system "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM

for node in node1 node2; do
  for controller in "${controllers[@]}"; do
    mkdir -p "$controller/$group/$node"
    [ "${controller##*/}" = cpuset ] || continue
    for each in "$controller/$group" "$controller/$group/$node"; do
      cat "$controller/cpuset.cpus" >"$each/cpuset.cpus"
      cat "$controller/cpuset.mems" >"$each/cpuset.mems"
    done
  done
done
unshare --mount --net --pid --fork --kill-child --mount-proc --propagation private \
  env ROTALOOM_CLUSTER="$work" KUBECONFIG="$work/pki/admin.kubeconfig" PATH="$bin:$PATH:/usr/sbin" \
  "$here/control.sh" "$@" &
outside=$!
status=0
wait "$outside" || status=$?
outside=
exit "$status"
