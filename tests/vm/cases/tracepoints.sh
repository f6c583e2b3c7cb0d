# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Every tracepoint can be switched on and says what it should while data flows.
# guests: one
# links: sroce
# kernels: 6.1 6.12
# seconds: 30
set -euo pipefail
. /share/vm/lib.sh
topology

tracing=/sys/kernel/debug/tracing
traced() { grep -qE "$1" $tracing/trace; }

echo 1 >$tracing/events/sroce/enable
tool "data flows, traced" ibv_rc_pingpong -g GID -n 5 -s 10000 -c
tool "READs too" ib_read_bw -x GID -F -s 65536 -n 8
# A datagram to port 4791 that is too short to be anything.
on_b bash -c "echo short >/dev/udp/$A_IP/4791"
echo 0 >$tracing/events/sroce/enable

check "send plans" traced 'sroce_send_plan: qpn=[0-9]+ packets wqe=[0-9]+ psn=[0-9]+ packets=[1-9]'
check "acknowledgements" traced 'sroce_ack_plan: qpn=[0-9]+ psn=[0-9]+ accept '
check "requests received" traced 'sroce_recv_plan: qpn=[0-9]+ psn=[0-9]+ place '
check "READ requests" traced 'sroce_recv_plan: qpn=[0-9]+ psn=[0-9]+ read '
check "responses" traced 'sroce_response_plan: qpn=[0-9]+ kind=1 psn=[0-9]+ packets=[1-9]'
check "a drop, with its reason" traced 'sroce_drop: ifindex=[0-9]+ dest_qpn=[0-9]+ why=[a-z_]*truncated'
