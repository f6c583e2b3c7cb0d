# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Asynchronous events of QPs, CQs, the port and the device.
# guests: one
# links: sroce
# seconds: 90
# stages: vm-newest vm-newest-native
# full: vm-debug vm-debug-native vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology

tap "async" on_a "$programs"/async_verify --dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID" \
	--interface "$A_IF"
