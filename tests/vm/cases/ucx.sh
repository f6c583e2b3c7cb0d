# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# UCX, the transport of Open MPI and others: its own ucx_perftest over datagrams, and over connections
# with a shared receive queue.
# guests: any
# links: sroce
# seconds: 120
# stages: vm-newest vm-newest-native
# full: vm-6.12 vm-debug vm-6.12-two
set -euo pipefail
. /share/vm/lib.sh
topology

# Both ends see both devices, so each has a program of its own.
for device in "$A_DEV" "$B_DEV"; do
	mkdir -p "/tmp/$device"
	cat >"/tmp/$device/ucx_perftest" <<-EOF
		#!/bin/bash
		UCX_NET_DEVICES=$device:1 exec -a "\$0" /usr/bin/ucx_perftest "\$@"
	EOF
	chmod +x "/tmp/$device/ucx_perftest"
done

# The transports that ucx_info lists for a device: a line names a transport, a later one its device.
transports() { ucx_info -d | awk -v device="$1:1" '$2 == "Transport:" { name = $3 } $2 == "Device:" && $3 == device { print name }'; }
offers() { transports "$1" | grep -x "$2"; } # DEVICE TRANSPORT
export -f transports offers
for transport in rc_verbs ud_verbs; do
	check "ucx_info -d lists $transport" on_a offers "$A_DEV" "$transport"
done

ucx() # TRANSPORT TEST BYTES
{
	local options=(-t "$2" -s "$3" -n 50 -w 5)
	export UCX_TLS=$1
	[[ $1 == ^* ]] || UCX_TLS+=,self
	pair "ucx_perftest $2 over $1, $3 bytes" "/tmp/$A_DEV/ucx_perftest" "${options[@]}" -- \
		"/tmp/$B_DEV/ucx_perftest" "$A_IP" "${options[@]}"
}

for test in tag_lat tag_bw ucp_am_lat stream_lat; do
	for bytes in 8 4000 100000; do
		ucx ud_verbs "$test" "$bytes"
		ucx rc_v "$test" "$bytes"
	done
done
for test in ucp_put_lat ucp_put_bw ucp_get; do
	ucx rc_v "$test" 100000
	ucx ud_verbs "$test" 100000
done
# The transports that it chooses by default between two hosts. On one host it would share memory.
ucx ^shm tag_lat 100000
ucx ^shm ucp_put_bw 100000
for test in ucp_add ucp_fadd ucp_swap ucp_cswap; do
	ucx rc_v "$test" 8
done
