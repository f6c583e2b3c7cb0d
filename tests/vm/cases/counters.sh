# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# After known traffic, the counters have the expected values.
# guests: any
# links: sroce
# seconds: 60
# full: vm-newest-native vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology

names="sent_pkts rcvd_pkts sent_bytes rcvd_bytes rdma_sends rdma_recvs rx_write_requests rx_read_requests rx_atomic_requests
	duplicate_request out_of_seq_request rcvd_seq_err retry_exceeded_err send_rnr_err rcvd_rnr_err local_ack_timeout_err
	packet_seq_err roce_adp_retrans out_of_sequence rx_icrc_encapsulated link_downed"
declare -A before
remember() { local end name; for end in a b; do for name in $names; do before[$end$name]=$(counter_at $end "$name"); done; done; }

# rose a|b NAME FROM [TO]: the counter has risen by FROM to TO since remember
rose()
{
	local by=$(($(counter_at "$1" "$2") - ${before[$1$2]})) to=${4:-$3}
	check "$1: $2 rose by $by ($3 to $to)" test "$by" -ge "$3" -a "$by" -le "$to"
}
no_faults()
{
	local end name
	for end in a b; do
		# A guest that waits for a CPU sometimes sends a needless tail-loss probe.
		rose $end duplicate_request 0 50
		for name in out_of_seq_request rcvd_seq_err retry_exceeded_err send_rnr_err rcvd_rnr_err \
			local_ack_timeout_err packet_seq_err out_of_sequence rx_icrc_encapsulated link_downed; do
			rose $end $name 0
		done
	done
}

for name in $names; do
	expect_counter a "$name" -ge 0
done

remember
tool "100 WRITEs of 64 KiB at MTU 1024" ib_write_bw -x GID -F -m 1024 -s 65536 -n 100
rose a rx_write_requests 100
rose b rx_write_requests 0
rose a rcvd_pkts 6400 6500
rose b sent_pkts 6400 6500
rose a rcvd_bytes $((100 * 65536)) $((6500 * 1100))
rose b sent_bytes $((100 * 65536)) $((6500 * 1100))
rose a sent_pkts 1 6500
no_faults

remember
tool "100 READs of 64 KiB at MTU 4096" ib_read_bw -x GID -F -m 4096 -s 65536 -n 100
rose a rx_read_requests 100
rose a sent_pkts 1600 3200
rose b rcvd_pkts 1600 3200
no_faults

remember
tool "100 atomics" ib_atomic_bw -x GID -F -n 100
rose a rx_atomic_requests 100
no_faults

# The receivers of perftest and of the pingpong post receives first, so there is no RNR.
remember
tool "50 SENDs in each direction" ibv_rc_pingpong -g GID -m 1024 -n 50 -s 10000
for end in a b; do
	rose $end rdma_sends 50
	rose $end rdma_recvs 50
	rose $end sent_pkts 500 1200
done
no_faults

remember
netem loss 3%
tool "loss 3 %" ib_write_bw -x GID -F -s 65536 -n 200
netem
rose a out_of_seq_request 1 100000
rose b roce_adp_retrans 1 100000

# Packets behind a gap that is never closed fill A's pool, of 128 MiB. Another QP still has its
# guaranteed share. After 8 s they are dropped, and debug is too slow for that.
fill_pool()
{
	bytes=0
	: >/tmp/gaps
	on_a "$programs"/reorder_gaps --dev "$B_DEV" --gid "$B_GID" --peer-dev "$A_DEV" --peer-gid "$A_GID" --pairs 80 --mtu 4096 >/tmp/gaps 2>&1 &
	wait_until 30 is_full_or_over || true
	wait_until 30 has_reported || true
	pkill -x reorder_gaps || true
	wait $! || true
	((bytes > 127 << 20))
}
has_reported() { grep -qxE 'kept|lost' /tmp/gaps; }
# Slow guests drop the first packets soon after the last has arrived, so the highest value counts.
is_full_or_over()
{
	local now
	now=$(counter_at a reorder_bytes)
	((now <= bytes)) || bytes=$now
	((bytes > 127 << 20)) || has_reported
}
if [[ $GUESTS == 1 && $KERNEL != debug ]]; then
	fill_pool || fill_pool || fill_pool || true
	check "QPs with gaps fill the pool of the reorder queues: $bytes bytes" test "$bytes" -gt $((127 << 20))
	check "another QP keeps packets behind a gap" grep -qx kept /tmp/gaps
	expect_counter a reorder_bytes -eq 0
fi
