# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Regions are reregistered, also while a peer writes to and reads from them.
# guests: one
# links: sroce
# seconds: 90
# stages: vm-newest vm-newest-native
# full: vm-debug vm-kcsan vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology
export LIMIT=80

# Slow kernels need more time for a change.
rounds=1000 delay="300us 200us"
[[ $KERNEL == @(newest|parallel) ]] || rounds=200 delay="3ms 2ms"
both_ends() { "$programs"/mr_rereg --dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID" "$@"; }
tap "rereg" both_ends --rounds $rounds
# Packets are in flight while the region changes, also out of order.
# shellcheck disable=SC2086
netem delay $delay limit 4000
tap "in flight" both_ends --rounds 1000 --in-flight
netem
