# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# More than 10,000 malformed packets over IPv4 and IPv6. Each is dropped and counted by reason, the
# kernel logs nothing, and other traffic is unharmed.
# guests: any
# links: sroce
# seconds: 150
# full: vm-newest-native vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology

hw_counters=/sys/class/infiniband/$A_DEV/ports/1/hw_counters
each=400
[[ ! $QUICK ]] || each=200

read_counters() { grep . "$1"/*; } # DIRECTORY: lines FILE:VALUE
udp_errors() { awk '/^Udp: [0-9]/ { print $4 } /^Udp6InErrors/ { print $2 }' /proc/net/snmp /proc/net/snmp6; }
export -f read_counters udp_errors
snapshot()
{
	if [[ $GUESTS == 2 ]]; then on_a read_counters "$hw_counters"; else read_counters "$hw_counters"; fi |
		sed 's,.*/\([^/:]*\):,\1 ,'
	on_a udp_errors | awk '{ sum += $1 } END { print "udp_errors", sum }'
}
rise() { awk -v names=" $3 " 'NR == FNR { old[$1] = $2; next } index(names, " " $1 " ") { sum += $2 - old[$1] } END { print sum + 0 }' "$1" "$2"; } # OLD NEW NAMES
all_rises() { awk 'NR == FNR { old[$1] = $2; next } $2 > old[$1] { printf "%s %d, ", $1, $2 - old[$1] }' "$1" "$2"; } # OLD NEW

# The counters that cover every packet which is not for a live QP.
reasons="$(basename -a "$hw_counters"/drop_* 2>/dev/null | tr '\n' ' ') rx_icrc_encapsulated rp_cnp_ignored rdma_recvs udp_errors"
[[ $GUESTS == 1 ]] || reasons="$(on_a ls "$hw_counters" | grep ^drop_ | tr '\n' ' ') rx_icrc_encapsulated rp_cnp_ignored rdma_recvs udp_errors"

flood() { on_b "$programs"/raw_flood "$@"; }
qp_of_server() { sed -n 's/.*role=in .* qpn=\([0-9]*\) .* rq_psn=\([0-9]*\).*/\1 \2/p' /tmp/server | head -n 1; }
sent() { sed -n 's/.*"total":\([0-9]*\).*/\1/p' <<<"$1"; }

# --- without a live QP: each packet is counted once -----------------------------------------------

kinds=$(flood --dst "$A_IP" --count 200 --seed 7 | sed -n 's/.*"kinds":{\(.*\)}}.*/\1/p' | tr -d '"' | tr ',' '\n' | cut -d: -f1)
silent=$(rdma_log)
for address in "$A_IP" "$A_IP6"; do
	total=0
	snapshot >/tmp/before
	for kind in $kinds; do
		output=$(flood --dst "$address" --count $each --only "$kind" --seed $RANDOM)
		count=$(sent "$output")
		total=$((total + count))
		snapshot >/tmp/after
		check "$kind to $address: $(all_rises /tmp/before /tmp/after)$count sent" \
			test "$(rise /tmp/before /tmp/after "$reasons")" -eq "$count"
		mv /tmp/after /tmp/before
	done
	check "$total malformed packets were sent to $address" test "$total" -ge 5000
done

# --- at a live QP: it keeps working, and the right check detects each kind ------------------------

export LIMIT=100   # the traffic lasts until SIGTERM
on_a "$programs"/rc_verify --server --dev "$A_DEV" --gid "$A_GID" >/tmp/server 2>&1 &
server=$!
wait_until 15 on_a listens rc_verify
on_b "$programs"/rc_verify --client "$A_IP" --dev "$B_DEV" --gid "$B_GID" --duration 100 >/tmp/client 2>&1 &
client=$!
check "verified traffic runs" wait_until 15 grep -q 'role=in' /tmp/server
read -r qpn psn <<<"$(qp_of_server)"
echo "# it uses QP $qpn of $A_DEV, which first expected PSN $psn"

# About half of the packets are for this QP.
snapshot >/tmp/before
while read -r kind names; do
	flood --dst "$A_IP" --count 400 --only "$kind" --qpn "$qpn" --psn "$psn" --seed $RANDOM >/tmp/flood
	snapshot >/tmp/after
	check "$kind at a live QP is counted in $names" test "$(rise /tmp/before /tmp/after "$names")" -ge 60
	mv /tmp/after /tmp/before
done <<-'END'
	wrong_icrc rx_icrc_encapsulated
	from_a_stranger drop_address
	wrong_pkey drop_pkey
	wrong_version drop_version
	pad_beyond_payload drop_pad
	ack_of_the_future drop_unsent drop_duplicate
	send_of_the_past duplicate_request
END
check "4000 packets of all harmless kinds are sent" flood --dst "$A_IP" --count 4000 --qpn "$qpn" --psn "$psn"
on_b pkill -TERM -x rc_verify
wait $client || true
wait $server || true
relay "traffic under the flood" </tmp/client
check "traffic under the flood succeeds at A, too" grep -q ' 0 failed' /tmp/server

# --- kinds that may rightly move their QP to ERR: the rest is unharmed ----------------------------

on_a "$programs"/rc_verify --server --dev "$A_DEV" --gid "$A_GID" --port 18600 >/tmp/server 2>&1 &
server=$!
wait_until 15 on_a listens rc_verify
on_b "$programs"/rc_verify --client "$A_IP" --port 18600 --dev "$B_DEV" --gid "$B_GID" --duration 3 --wait-limit 3 >/tmp/client 2>&1 &
client=$!
wait_until 15 grep -q 'role=in' /tmp/server
read -r qpn psn <<<"$(qp_of_server)"
check "4000 packets of hostile kinds are sent" flood --dst "$A_IP" --count 4000 --qpn "$qpn" --psn "$psn" --hostile
tool "another QP is unharmed" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
wait $client || true
wait $server || true
check "the kernel logs nothing" logs_nothing_since "$silent"
tool "traffic flows afterwards" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
