# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A process and the softirqs of its queue pairs on different CPUs. Packets on a veth pair stay on the
# sender's CPU otherwise, and so does all that happens to a queue pair.
# guests: one
# links: sroce
# kernels: 6.12 parallel smp kcsan
# seconds: 60
# stages: vm-6.12
# full: vm-parallel vm-parallel-native vm-smp vm-kcsan
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology

# steer a|b CPU: what side A or B receives is handled on this CPU
steer() { echo $((1 << $2)) | ip netns exec "$1" tee "/sys/class/net/eth_$1/queues/rx-0/rps_cpus"; }
check "packets for A go to CPU 1" steer a 1
check "packets for B go to CPU 0" steer b 0
tool "ib_write_bw, small messages" ib_write_bw -x GID -F -s 64 -n 5000
tool "ib_write_bw, lists of requests" ib_write_bw -x GID -F -s 64 -n 4800 -l 16
# Each depth is exactly the number of slots in one of the two modes.
for depth in 127 128; do
	tool "ib_write_bw, send queue always full, depth $depth" ib_write_bw -x GID -F -s 65536 -t "$depth" -n 200 -q 4
done
tool "ib_read_bw" ib_read_bw -x GID -F -s 4096 -n 100
tool "ib_send_bw, both directions" ib_send_bw -x GID -F -s 64 -n 3000 -b
tool "ib_send_bw, events, four QPs" ib_send_bw -x GID -F -s 4096 -n 500 -e -q 4
tool "ib_send_bw, SRQ" ib_send_bw -x GID -F -s 4096 -n 500 --use-srq -q 4
tool "ib_send_bw, UC" ib_send_bw -x GID -F -s 4096 -n 500 -c UC
tool "ib_send_bw, UD" ib_send_bw -x GID -F -s 1024 -n 1000 -c UD
tool "ib_atomic_bw" ib_atomic_bw -x GID -F -n 200
netem loss 1%
tool "ib_write_bw, 1 % loss" ib_write_bw -x GID -F -s 65536 -n 64
netem
