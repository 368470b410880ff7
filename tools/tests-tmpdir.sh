#!/usr/bin/env bash
# Prints the folder for the temporary files of tests: one in memory where there is room,
# since tests make and remove many files, which takes longer on a disk. TMPDIR wins.
set -euo pipefail

# Tests have used half a GiB at a time; the long forms may need more.
readonly need_kb=$((6 << 20))

# room says that the folder takes what tests write, and lets them run programs there.
room() {
  [ "$(df -Pk "$1" 2>/dev/null | awk 'NR == 2 { print $4 }')" -ge "$need_kb" ] || return 1
  # Twice that: the programs need memory too.
  [ "$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)" -ge $((2 * need_kb)) ] || return 1
  local limit=max probe
  [ ! -r /sys/fs/cgroup/memory.max ] || read -r limit </sys/fs/cgroup/memory.max
  [ "$limit" = max ] || [ $((limit >> 10)) -ge $((2 * need_kb)) ] || return 1
  probe=$(mktemp "$1/rotaloom-probe.XXXXXX") || return 1
  chmod +x "$probe" && "$probe" 2>/dev/null
  local status=$?
  rm -f "$probe"
  return "$status"
}

if [ -n "${TMPDIR:-}" ]; then
  echo "$TMPDIR"
elif [ -d /dev/shm ] && room /dev/shm 2>/dev/null; then
  echo /dev/shm
else
  echo /tmp
fi
