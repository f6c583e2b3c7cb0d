# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Memory windows of both types: what they permit, how they are taken away, also under WRITEs and with loss.
# guests: 1
# links: sroce
# seconds: 60
# stages: vm-newest vm-newest-native
# full: vm-kcsan vm-debug vm-debug-native vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology
export LIMIT=120

both_ends() # OPTION...
{
	"$programs"/mw_verify --dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID" "$@"
}
tap "mw" both_ends
# Without loss, both ends count each access that a window forbids.
expect_counter b resp_remote_access_errors -ge 200
expect_counter a req_remote_access_errors -eq "$(counter_at b resp_remote_access_errors)"
expect_counter a req_cqe_error -eq "$(counter_at b resp_remote_access_errors)"
# B counts binds that fail.
expect_counter b req_cqe_error -ge 20
netem rate 300mbit
tap "300 Mbit/s" both_ends --revoke
netem rate 300mbit loss 1%
tap "300 Mbit/s, 1 % loss" both_ends --revoke --loss
netem
before=$(objects)
check "a process exits with bound windows" both_ends --abandon
all_gone() { [[ $(objects) == "$before" ]]; }
check "its windows and regions are gone" all_gone
