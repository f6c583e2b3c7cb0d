# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Capture traffic of every kind with tcpdump. The host checks the capture; see capture.host.
# guests: any
# seconds: 90
# stages: vm-newest vm-newest-rxe
# full: vm-newest-native vm-debug vm-6.12 vm-6.1 vm-6.12-two vm-6.12-rxe
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology

# One packet per frame: GSO batches are segmented in software, which also gives each packet its own
# IPv4 identification.
on_a ethtool -K "$A_IF" tx-udp-segmentation off gro off >/dev/null
on_b ethtool -K "$B_IF" tx-udp-segmentation off gro off >/dev/null

mkdir -p "$keep"
: >"$keep/also"
printf '%s %s\n' "$A_IP" "$A_TYPE" "$A_IP6" "$A_TYPE" "$B_IP" "$B_TYPE" "$B_IP6" "$B_TYPE" >"$keep/senders"
on_a tcpdump -q -i "$A_IF" -s 0 -B 32768 -Z root -U -w /tmp/capture.pcap \
	udp port 4791 or udp port 9 >/tmp/tcpdump.log 2>&1 &
sniffer=$!
wait_until 10 test -s /tmp/capture.pcap

# Sizes that need every number of pad bytes, at the smallest and the largest path MTU.
for mtu in 256 4096; do
	for size in 1 4098 9999; do
		tool "ibv_rc_pingpong MTU $mtu, $size bytes" ibv_rc_pingpong -g GID -m $mtu -n 10 -s $size -c
	done
done
for round in 1 2; do
	tool "ibv_ud_pingpong, QP $round" ibv_ud_pingpong -g GID -n 20 -s 1001
done
tool "ib_write_bw" ib_write_bw -x GID -F -s 65536 -n 8 -t 4
tool "ib_read_bw" ib_read_bw -x GID -F -s 65536 -n 8 -t 4
tool "ib_send_bw" ib_send_bw -x GID -F -s 65536 -n 8 -t 4
tool "ib_atomic_bw FETCH_AND_ADD" ib_atomic_bw -x GID -F -n 20 -A FETCH_AND_ADD -t 4
tool "ib_atomic_bw CMP_AND_SWAP" ib_atomic_bw -x GID -F -n 20 -A CMP_AND_SWAP -t 4
for address in "$A_IP" "$A_IP6"; do
	pair "rping to $address" rping -s -a "$address" -v -V -C 5 -S 3001 -- rping -c -a "$address" -v -V -C 5 -S 3001
done
# Selective acknowledgements and CNPs, which only sroce peers send.
if [[ $A_TYPE$B_TYPE == srocesroce ]]; then
	netem delay 2ms reorder 50% 50%
	tool "ib_write_bw, out of order" ib_write_bw -x GID -F -s 65536 -n 16 -t 4
	netem loss 10% ecn
	tool "ib_write_bw, 10 % marked" ib_write_bw -x GID -F -s 65536 -n 64 -t 4
	netem
fi
# The peer decides about selective repeat with its first response.
for end in a b; do
	[[ $end == a ]] && type=$A_TYPE peer=$B_TYPE || type=$B_TYPE peer=$A_TYPE
	[[ $type == sroce ]] || continue
	expect_counter $end selective_offered -gt 0
	if [[ $peer == sroce ]]; then
		expect_counter $end selective_accepted -gt 0
		expect_counter $end selective_withdrawn -eq 0
	else
		expect_counter $end selective_accepted -eq 0
		expect_counter $end selective_withdrawn -gt 0
	fi
done
skip=$(rxe_lacks)
DUET_GID_A=$A_GID DUET_GID_B=$B_GID duet "IPv4" rc_verify --quick --max-size 10000 ${skip:+--skip "$skip"}
DUET_GID_A=$A_GID6 DUET_GID_B=$B_GID6 duet "IPv6" rc_verify --quick --max-size 10000 ${skip:+--skip "$skip"}

# Opcodes that those do not send. Each program has both ends.
send_more() # KIND PROGRAM OPTION...: KIND is that of check_capture
{
	tap "$1" "$programs/$2" --dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID" "${@:3}"
	echo "$1" >>"$keep/also"
}
if [[ $GUESTS == 1 ]]; then
	send_more uc uc_verify --traffic
	if [[ $A_TYPE$B_TYPE == srocesroce ]]; then
		send_more placement placement_verify
		[[ $MODE != native ]] || send_more xrc xrc_verify --traffic
	else
		# rdma_rxe has a checksum of FLUSH that no other device accepts, or sends.
		send_more atomic-write placement_verify --no-flush
	fi
fi
[[ $skip ]] || echo invalidate >>"$keep/also"

# tcpdump drops what it has not read yet when it is stopped. Wait until it has written the last packet.
on_a bash -c "echo end-of-capture >/dev/udp/$B_IP/9"
check "the end of the traffic was captured" wait_until 30 grep -q end-of-capture /tmp/capture.pcap
stopped=0
pkill -INT -x tcpdump || stopped=$?
wait $sniffer || echo "# tcpdump exited with status $?"
sed 's/^/# /' /tmp/tcpdump.log
check "tcpdump was still running" test $stopped -eq 0
check "the capture was saved" cp /tmp/capture.pcap "$keep/$A_TYPE-$B_TYPE.pcap"

# --- UDP checksums --------------------------------------------------------------------------------

# The kinds of checksums in A's packets over IPv4 or IPv6. tcpdump calls a zero right if the sum of
# the packet is that by chance, so look at the field first.
checksums() # 4|6
{
	local ip=ip field='udp[6:2]'
	[[ $1 == 4 ]] || ip=ip6 field='ip6[46:2]'
	[[ ! $(tcpdump -n -r /tmp/checksums "$ip and $field = 0" 2>/dev/null) ]] || echo zero
	tcpdump -vv -n -r /tmp/checksums "$ip and $field != 0" 2>/dev/null |
		awk '/udp sum ok/ { print "valid"; next } /cksum/ { print }' | sort -u
}
expect_checksums() # UDP_CHECKSUM GSO KIND
{
	local what="udp_checksum $1, GSO $2" version
	on_a "$programs/sroce" set "$A_DEV" udp_checksum "$1" >/dev/null
	on_a ethtool -K "$A_IF" gso "$2" >/dev/null
	rm /tmp/tcpdump.log
	on_a tcpdump --immediate-mode -U -Z root -i "$A_IF" --direction=out -w /tmp/checksums udp port 4791 2>/tmp/tcpdump.log &
	sniffer=$!
	wait_until 10 grep -q 'listening on' /tmp/tcpdump.log
	tool "$what: traffic over IPv4" ibv_rc_pingpong -g GID -n 10 -s 10000 -c
	pair "$what: traffic over IPv6" ibv_rc_pingpong -d "$A_DEV" -g "$A_GID6" -n 10 -s 10000 -c -- \
		ibv_rc_pingpong -d "$B_DEV" -g "$B_GID6" -n 10 -s 10000 -c "$A_IP"
	sleep 0.2
	pkill -INT -x tcpdump
	wait $sniffer || true
	for version in 4 6; do
		check "$what: every checksum over IPv$version is $3" test "$(checksums $version)" = "$3"
	done
}
if [[ $A_TYPE == sroce ]]; then
	# Without checksum offload, the stack completes checksums before tcpdump sees them.
	on_a ethtool -K "$A_IF" tx off >/dev/null
	expect_checksums auto on valid
	expect_checksums auto off zero
	expect_checksums on off valid
	expect_checksums off on zero
fi
