# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Memory that is paged on demand: data, lost pages, fork, errors, prefetch; and under loss.
# guests: one
# links: sroce
# seconds: 90
# stages: vm-newest vm-newest-rxe vm-newest-native vm-6.12
# full: vm-debug vm-debug-native vm-kcsan vm-6.1
# kernels: newest debug kcsan smp 6.12 6.1
# User-mode Linux with two CPUs does not tell a running process that a page has been replaced.
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology
export LIMIT=120

# A veth pair delivers on the CPU that sends, so packets sent by two CPUs overtake each other, and a
# UC message that is overtaken is lost. Let one CPU receive where there are several.
receive_on() # MASK|0
{
	# shellcheck disable=SC2016
	local set=(bash -c 'file=/sys/class/net/$0/queues/rx-0/rps_cpus; test ! -e $file || echo "$1" >$file')
	on_a "${set[@]}" "$A_IF" "$1"
	on_b "${set[@]}" "$B_IF" "$1"
}

# A READ takes 10 ms on a slow kernel.
rounds=200 pause=300
[[ ! $QUICK ]] || rounds=40 pause=20000
options=(--dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID")
both_ends() { "$programs"/odp_verify "${options[@]}" "$@"; }
receive_on 1
tap "odp" both_ends --rounds $rounds --pause $pause
receive_on 0
netem loss 1%
tap "1 % loss" both_ends --rounds 40 --pause $pause --data
netem
check "pages were faulted in" test "$(counter "$B_DEV" page_faults)" -ge 1
check "failed faults are counted" test "$(counter "$B_DEV" page_fault_errors)" -ge 1
tool "ib_write_bw --odp" ib_write_bw -x GID -F -s 1048576 -n 64 --odp
tool "ib_read_bw --odp" ib_read_bw -x GID -F -s 1048576 -n 64 --odp
tool "ib_send_bw --odp" ib_send_bw -x GID -F -s 65536 -n 64 --odp
tool "ib_send_bw --odp, UD" ib_send_bw -x GID -F -s 1024 -n 64 -c UD --odp
tool "ib_send_bw --odp, UD and a shared queue" ib_send_bw -x GID -F -s 1024 -n 64 -c UD --use-srq --odp
tool "ibv_srq_pingpong" ibv_srq_pingpong -g GID -n 200 -s 10000 -o
tool "ibv_rc_pingpong with prefetch" ibv_rc_pingpong -g GID -n 100 -s 65536 -o -P
