#!/usr/bin/env bash
# Installs missing packages of the distribution that a node of Kubernetes needs: containerd, runc, network
# plugins and tools for building images. No service of the system is started.
set -euo pipefail

packages=(buildah busybox-static conntrack containerd containernetworking-plugins curl ethtool iproute2 iptables kmod nftables openssl runc socat util-linux)

found() {
  local program
  for program in buildah busybox conntrack containerd ctr curl ip iptables nft openssl runc socat unshare; do
    command -v "$program" >/dev/null || [ -x "/usr/sbin/$program" ] || return 1
  done
  [ -x /usr/lib/cni/bridge ] && ! ldd "$(command -v busybox)" >/dev/null 2>&1
}

found && exit 0
if ! command -v apt-get >/dev/null; then
  echo "A node of Kubernetes needs ${packages[*]} (Debian's names of packages). Install them; network plugins belong in /usr/lib/cni." >&2
  exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
  printf 'A node of Kubernetes needs packages that are missing. Have somebody run, as root:\n  apt-get update && apt-get install --no-install-recommends %s\n' "${packages[*]}" >&2
  exit 1
fi
echo "Installing containerd and what goes with it with apt-get." >&2
# Debian starts a service when it is installed, unless a policy says not to (101).
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  printf '#!/bin/sh\nexit 101\n' >"$policy"
  chmod +x "$policy"
  trap 'rm -f "$policy"' EXIT
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
found || { echo "The packages were installed, but a program of them was not found." >&2; exit 1; }
