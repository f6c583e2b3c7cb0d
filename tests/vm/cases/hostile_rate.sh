# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# An attacker does its worst as fast as it can. Meanwhile another tenant verifies its traffic over
# the same devices, at no less than 0.8 of the rate that it has beside a harmless process.
# guests: one
# links: sroce-sroce
# kernels: newest
# seconds: 900
# stages: vm-newest-hostile vm-newest-hostile-native
# full: none
set -euo pipefail
. /share/vm/lib.sh
topology
. /share/vm/hostile.sh

# This guest has one CPU, and every process that is always runnable takes its share of it. Therefore
# the control is a process of equal weight: the same packets sent to a closed UDP port, or system
# calls that do nothing. Rounds with the attack and with the control alternate, and the median of
# their ratios counts, so that a busy host disturbs both alike.
rounds=${ROUNDS:-5} seconds=3
export LIMIT=120
before_all=$(rdma_log)

# One round: sets tenant_rate. The job is a function that runs until it is killed.
beside() # FUNCTION
{
	start_tenant $seconds || return
	"$1" >/tmp/job 2>&1 &
	local job=$! status=0
	finish_tenant || status=1
	pkill -x raw_flood || true
	pkill -f -- '--job (keys|churn|cycle)' || true
	pkill -x ring_scribble || true
	pkill -x dd || true
	wait $job || true
	return $status
}

# compare NAME ATTACK CONTROL
compare()
{
	local name=$1 attack=$2 control=$3 round with ratios=''
	for ((round = 0; round < rounds; round++)); do
		beside "$attack" >/tmp/round || { not_ok "$name: the tenant's data is right" "$(cat /tmp/round /tmp/job)"; return; }
		with=$tenant_rate
		beside "$control" >/tmp/round || { not_ok "$name: the tenant's data is right beside the control" "$(cat /tmp/round)"; return; }
		ratios+="$((with * 100 / tenant_rate)) "
	done
	median=$(tr ' ' '\n' <<<"$ratios" | grep . | sort -n | sed -n $(((rounds + 1) / 2))p)
	echo "# $name: $ratios percent"
}
judge() # NAME ATTACK CONTROL
{
	median=0
	compare "$@"
	check "$1: the tenant has $median % of its rate beside a harmless process" test "$median" -ge 80
	check_state "$1"
}

flood() { on_b "$programs/raw_flood" --dst "$A_IP" --seconds 60 "$@"; }
system_calls() { on_b dd if=/dev/zero of=/dev/null bs=16; }
job() { on_b "${abuse[@]}" --gid "$B_GID" --peer-gid "$A_GID" --seconds 60 --job "$@"; }

malformed() { flood --not mad_of_unknown_version; }
malformed_elsewhere() { flood --not mad_of_unknown_version --port 9; }
mads() { flood --only mad_nonsense; }
mads_elsewhere() { flood --only mad_nonsense --port 9; }
wrong_icrc() { flood --only wrong_icrc --qpn "$qpn" --psn "$psn"; }
wrong_icrc_elsewhere() { flood --only wrong_icrc --qpn "$qpn" --psn "$psn" --port 9; }
strangers_cnps() { flood --only cnp --src 10.0.0.77 --qpn "$qpn" --psn "$psn"; }
strangers_cnps_elsewhere() { flood --only cnp --src 10.0.0.77 --qpn "$qpn" --psn "$psn" --port 9; }
peers_cnps() { flood --only cnp --qpn "$qpn" --psn "$psn"; }
peers_cnps_elsewhere() { flood --only cnp --qpn "$qpn" --psn "$psn" --port 9; }
gap_packets() { flood --only beyond_a_gap --hostile --qpn "$idle_qpn" --psn "$idle_psn" "$@"; }
gap_packets_elsewhere() { gap_packets --port 9; }
keys() { job keys; }
churn() { job churn; }
cycle() { job cycle; }
scribble() { on_a "$programs/ring_scribble" --dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID" --seconds 60; }
# As many processes and threads.
three_times_system_calls() { system_calls & system_calls & system_calls; }

remember_state
judge "scribbled rings" scribble three_times_system_calls
judge "guessed keys" keys system_calls
judge "objects made and destroyed" churn system_calls
judge "connections" cycle system_calls
if [[ $MODE == native ]]; then
	check "the kernel logs nothing" logs_nothing_since "$before_all"
	exit
fi

judge "malformed packets" malformed malformed_elsewhere
judge "MADs" mads mads_elsewhere
judge "wrong ICRCs for the tenant's QP" wrong_icrc wrong_icrc_elsewhere

handled=$(counter "$A_DEV" rp_cnp_handled) ignored=$(counter "$A_DEV" rp_cnp_ignored)
judge "CNPs from a stranger to the tenant's QP" strangers_cnps strangers_cnps_elsewhere
check "none of them slowed a QP down" test "$(counter "$A_DEV" rp_cnp_handled)" -eq "$handled"
check "they were counted" test "$(counter "$A_DEV" rp_cnp_ignored)" -gt "$ignored"
# As with hardware. The addresses are all that a CNP has to say who has sent it.
compare "CNPs from the address of the tenant's peer" peers_cnps peers_cnps_elsewhere
check "CNPs from the peer's address do slow the tenant down, to $median %" test "$(counter "$A_DEV" rp_cnp_handled)" -gt "$handled"

# A QP of the attacker's own queues them.
on_b "${abuse[@]}" --gid "$B_GID" --peer-gid "$A_GID" --job idle >/tmp/idle 2>&1 &
idle=$!
wait_until 10 grep -q qpn= /tmp/idle
read -r idle_qpn idle_psn <<<"$(sed -n 's/.*qpn=\([0-9]*\) psn=\([0-9]*\).*/\1 \2/p' /tmp/idle)"
full=$(counter "$A_DEV" out_of_seq_request)
compare "packets beyond a gap" gap_packets gap_packets_elsewhere
check "packets beyond a gap: the tenant has $median % of its rate beside a harmless process" test "$median" -ge 80
check "they were queued" test "$(counter "$A_DEV" out_of_seq_request)" -gt "$full"
pkill -x abuse || true
wait $idle || true
check_state "packets beyond a gap"
check "the kernel logs nothing" logs_nothing_since "$before_all"
