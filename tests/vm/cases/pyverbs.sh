# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The tests in Python of this system's rdma-core, see tests/vm/pyverbs.sh.
# guests: one
# links: sroce
# seconds: 230
# stages: vm-newest vm-newest-native
# full: vm-newest-native vm-debug vm-debug-native vm-6.12 vm-6.12-native vm-6.1
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/pyverbs.sh
topology

run_pyverbs / /usr/share/doc/rdma-core/tests
