# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Shared receive queues: unmodified tools, and a program that checks every byte and event, also with
# loss.
# guests: any
# links: sroce
# seconds: 240
# stages: vm-newest vm-newest-native
# full: vm-kcsan vm-debug vm-debug-native vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology
export LIMIT=120

tool "ibv_srq_pingpong" ibv_srq_pingpong -g GID -n 200 -s 10000
tool "ibv_srq_pingpong with events" ibv_srq_pingpong -g GID -n 200 -s 10000 -e
tool "ibv_srq_pingpong, 32 QPs" ibv_srq_pingpong -g GID -n 100 -s 1000 -r 500 -q 32
both_ends() # OPTION...
{
	"$programs"/srq_verify --dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID" "$@"
}
tap "srq" both_ends --seed 1
expect_counter b send_rnr_err -ge 10
expect_counter a rcvd_rnr_err -ge 10
expect_counter a retry_rnr_exceeded_err -eq 1
expect_counter b drop_length -eq 1
tool "ib_send_bw, four QPs" ib_send_bw -x GID -F -s 4096 -n 500 --use-srq -q 4
tool "ib_send_bw, events, both directions" ib_send_bw -x GID -F -s 4096 -n 500 --use-srq -q 2 -b -e
tool "ib_send_bw, datagrams" ib_send_bw -x GID -F -s 1024 -n 500 --use-srq -c UD
tool "ib_send_lat" ib_send_lat -x GID -F -s 64 -n 100 --use-srq
netem loss 1%
tap "1 % loss" both_ends --seed 2 --traffic
netem
