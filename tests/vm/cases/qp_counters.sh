# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# `rdma statistic qp`: counters of some QPs, bound by hand or automatically; the port has their sum.
# guests: one
# links: sroce
# seconds: 90
# full: vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology

port=$A_DEV/1
sends() { counter "$A_DEV" rdma_sends; }
# The counters of QPs: their number, and the sends of the first.
count_bound() { rdma statistic qp show link "$port" | grep -c "cntn [0-9]"; }
bound_sends() { rdma statistic qp show link "$port" | sed -n 's/.* rdma_sends \([0-9]*\) .*/\1/p' | head -n 1; }
bound_are() { [[ $(count_bound) == "$1" ]]; }
bound_sends_exceed() { (($(bound_sends) > $1)); }
sends_exceed() { (($(sends) > $1)); }
sends_are() { [[ $(sends) == "$1" ]]; }
# No process posts; what has been posted is sent. Values are cached for 10 ms.
are_quiet()
{
	local before
	before=$(sends)
	sleep 0.2
	sends_are "$before"
}
serve()
{
	on_b ibv_rc_pingpong -d "$B_DEV" -g "$B_GID" -n 10000000 >/dev/null 2>&1 &
	server=$!
	on_b wait_until 10 listens ibv_rc_pingpong
	on_a ibv_rc_pingpong -d "$A_DEV" -g "$A_GID" -n 10000000 "$B_IP" >/dev/null 2>&1 &
	client=$!
}
stop()
{
	on_a pkill ibv_rc_pingpong || true
	on_b pkill ibv_rc_pingpong || true
	wait $client $server || true
}
lqpn() { rdma resource show qp link "$port" | sed -n 's/.*lqpn \([0-9]*\) .*type RC state RTS.*/\1/p'; }
has_qp() { [[ $(lqpn) ]]; }

check "no counter exists at first" bound_are 0

# --- by hand --------------------------------------------------------------------------------------

serve
wait_until 10 has_qp
qpn=$(lqpn)
before=$(sends)
check "the port counts" wait_until 10 sends_exceed "$before"
check "a QP is bound to a new counter" rdma statistic qp bind link "$port" lqpn "$qpn"
check "the counter exists" bound_are 1
check "it counts" wait_until 10 bound_sends_exceed 100
says "it names the QP" 0 "LQPN: <$qpn>" rdma statistic qp show link "$port"
before=$(sends) of_qp=$(bound_sends)
check "the port goes on counting, with its QPs" wait_until 10 sends_exceed $((before + 100))
check "so does the counter" wait_until 10 bound_sends_exceed $((of_qp + 100))
check_fails "a QP is bound to one counter only" "Cannot allocate memory|Invalid argument" \
	rdma statistic qp bind link "$port" lqpn "$qpn"
check "no second counter stays" bound_are 1
cntn=$(rdma statistic qp show link "$port" | sed -n 's/.*cntn \([0-9]*\) .*/\1/p')
pkill -STOP ibv_rc_pingpong
check "the traffic stops" wait_until 10 are_quiet
before=$(sends)
check "a QP is unbound" rdma statistic qp unbind link "$port" cntn "$cntn" lqpn "$qpn"
check "its counter has gone" bound_are 0
check "the port counts neither less nor more" sends_are "$before"
pkill -CONT ibv_rc_pingpong
check "the QP counts in the port" wait_until 10 sends_exceed "$before"
rdma statistic qp bind link "$port" lqpn "$qpn"
before=$(sends)
stop
check "the counter goes with its last QP" wait_until 10 bound_are 0
check "the port keeps what it counted" sends_exceed $((before - 1))

# --- optional counters ----------------------------------------------------------------------------

# ib_core offers this mode for counters that slow a device down. All of ours always count.
modes() { rdma statistic mode supported link "$port" >/tmp/modes && [[ ! -s /tmp/modes ]]; }
check "no counter is optional" modes
check_fails "none can become optional" "Invalid argument|not supported" \
	rdma statistic set link "$port" optional-counters rdma_sends

# --- automatically --------------------------------------------------------------------------------

check "automatic mode by type" rdma statistic qp set link "$port" auto type on
says "the mode is shown" 0 "qp auto type on" rdma statistic qp mode link "$port"
serve
check "a new QP gets a counter" wait_until 10 bound_are 1
check "which counts" wait_until 10 bound_sends_exceed 100
stop
check "and goes with it" wait_until 10 bound_are 0
for ((i = 0; i < 3; i++)); do
	tool "QPs share a counter, $i" ibv_srq_pingpong -g GID -n 20 -s 1000 -r 100 -q 32
done
serve
wait_until 10 bound_are 1
check "a device with a bound QP is deleted" rdma link delete "$A_DEV"
stop
