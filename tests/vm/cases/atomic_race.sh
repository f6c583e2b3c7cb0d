# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Remote atomics and the target's own CPU increment the same word at the same time. No count is
# lost.
# guests: any
# seconds: 60
# full: vm-newest-rxe vm-newest-native vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology

duration=5
[[ ! $QUICK ]] || duration=8
duet "$(nproc) CPUs" atomic_race --seconds $duration --qps 3
