# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The tests in Python of sid's rdma-core, with its libibverbs, and its provider or ours: see
# tests/vm/pyverbs.sh.
# guests: one
# links: sroce
# kernels: newest
# seconds: 240
# parts: sid
# stages: none
# full: vm-newest vm-newest-native
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/pyverbs.sh
. /share/vm/sid.sh
topology

unpack_sid
version=$(<"$sid_root/tests/version")
if [[ $version != 65.* ]]; then
	not_ok "the lists pyverbs_sid.* are those of sid's rdma-core" "they are of 65, and sid has $version"
	exit
fi
run_pyverbs "$sid_root" /tests
