#!/usr/bin/env bash
# Builds the images of a cluster that are not part of the product, without a registry, into
# build/kubernetes/images/*.tar: the image that keeps a pod's namespaces, the DNS server, NATS of the version
# that the product is tested with, and this machine's PostgreSQL.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../.."
bin=$(tools/kubernetes/build.sh cluster)
build=$PWD/build/kubernetes
mkdir -p "$build/images" "$build/context"

# image NAME: builds an image from its folder with images/NAME.Containerfile.
image() {
  local name=localhost/rotaloom/$1:test buildah=(buildah --storage-driver vfs --root "$build/store" --runroot "$build/run")
  rm -f "$build/images/$1.tar"
  "${buildah[@]}" bud -q --isolation chroot --timestamp 0 -f "$here/images/$1.Containerfile" -t "$name" "$build/context/$1" >/dev/null
  "${buildah[@]}" push -q "$name" "oci-archive:$build/images/$1.tar:$name" 2>/dev/null
}

fresh() { rm -rf "$build/context/$1"; mkdir -p "$build/context/$1"; }

fresh pause
cp "$(command -v busybox)" "$build/context/pause/busybox"
image pause

fresh coredns
cp "$bin/coredns" "$build/context/coredns/"
image coredns

fresh nats
CGO_ENABLED=0 GOWORK=off go -C tools/nats build -trimpath -ldflags '-s -w' -o "$build/context/nats/nats-server" github.com/nats-io/nats-server/v2
image nats

fresh postgres
root=$build/context/postgres/root
postgres=$(find /usr/lib/postgresql -mindepth 1 -maxdepth 1 | sort -V | tail -1)
mkdir -p "$root"/{bin,etc,tmp,usr/share,var/run/postgresql,docker-entrypoint-initdb.d} "$root$postgres" "$root/usr/share/postgresql"
cp -r "$postgres/bin" "$root$postgres/"
cp -r "$postgres/lib" "$root$postgres/"
# Code that is compiled while statements run needs a library that is larger than all else.
rm -rf "$root$postgres/lib/bitcode" "$root$postgres"/lib/llvmjit*
cp -r "/usr/share/postgresql/${postgres##*/}" "$root/usr/share/postgresql/"
cp -r /usr/share/zoneinfo "$root/usr/share/"
cp -r --parents /usr/lib/locale/C.utf8 "$root/"
ldd "$postgres"/bin/* "$root$postgres"/lib/*.so 2>/dev/null | grep -o '/[^ ]*\.so[^ ]*' | sort -u | while read -r library; do
  [[ $library == "$root"* ]] || cp --parents -L "$library" "$root/"
done
cp "$(command -v busybox)" "$root/bin/busybox"
for program in cat sh; do ln -s busybox "$root/bin/$program"; done
echo 'postgres:x:999:999::/:/bin/sh' >"$root/etc/passwd"
install -m 755 "$here/images/postgres.sh" "$root/bin/docker-entrypoint"
ln -s "$postgres/bin" "$root/postgresql"
image postgres
