# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# librdmacm's sockets over RDMA, their programs, and rdma_client.
# guests: one
# links: sroce
# seconds: 90
# stages: vm-newest-native
# full: vm-newest vm-debug
set -euo pipefail
. /share/vm/lib.sh
topology

# Datagrams are missing: librdmacm's have no GIDs, so that RoCE has no route for them.
# That of a device listens; without an address, there is one of none before.
opened() { rdma resource show cm_id | grep -E "^link .*state LISTEN.* comm $1( |$)"; } # PROGRAM
export -f opened
# meet NAME SERVER... -- CLIENT...: like pair, for servers that poll. rcopy and cmtime serve until they are killed.
meet()
{
	local name=$1 server=() job status=0
	shift
	while [[ $1 != -- ]]; do
		server+=("$1")
		shift
	done
	shift
	on_a timeout $((20 * TIME_FACTOR)) chrt -i 0 "${server[@]}" >/tmp/server 2>&1 &
	job=$!
	check "$name: the server has a cm_id" on_a wait_until 10 opened "${server[0]##*/}"
	check "$name" on_b timeout $((10 * TIME_FACTOR)) chrt -i 0 "$@"
	case ${server[0]} in
	rcopy | cmtime)
		on_a pkill -x "${server[0]}" || true
		wait $job || true
		;;
	*)
		wait $job || status=$?
		check "$name: the server ends well" test $status = 0
		;;
	esac
}

for family in "$A_IP" "$A_IP6"; do
	meet "rstream to $family, data checked" rstream -f ip -b "$family" -T v -S 100000 -I 20 -C 4 -- rstream -f ip -s "$family" -T v -S 100000 -I 20 -C 4
done
meet "riostream, data checked" riostream -T v -S 100000 -I 20 -C 4 -- riostream -s "$A_IP" -T v -S 100000 -I 20 -C 4
head -c 3000000 /dev/urandom >/tmp/original
meet "rcopy" rcopy -- rcopy /tmp/original "$A_IP:/tmp/copy"
check "rcopy: the copy is the original" cmp /tmp/original /tmp/copy
meet "cmtime" cmtime -b "$A_IP" -c 50 -- cmtime -s "$A_IP" -c 50
meet "rdma_client" rdma_server -- rdma_client -s "$A_IP"
mkdir -p /tmp/preload
cat >/tmp/preload/rstream <<-'EOF'
	#!/bin/bash
	LD_PRELOAD=$(echo /usr/lib/*/rsocket/librspreload.so) exec rstream -T s "$@"
EOF
chmod +x /tmp/preload/rstream
meet "sockets turned into rsockets" /tmp/preload/rstream -T v -S 100000 -I 20 -C 4 -- /tmp/preload/rstream -s "$A_IP" -T v -S 100000 -I 20 -C 4
