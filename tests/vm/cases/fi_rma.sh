# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# libfabric's own tests, with sid's libfabric and rdma-core: WRITE, READ, and WRITE with immediate data
# and messages, of which they check the data.
# guests: one
# links: sroce
# kernels: newest
# seconds: 180
# parts: sid
# stages: none
# full: vm-newest vm-newest-native
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/sid.sh
topology
export LIMIT=15

unpack_sid
mkdir -p /tmp/bin
for program in $(cd "$sid_root/usr/bin" && echo fi_*_bw fi_*_pingpong); do
	cat >"/tmp/bin/$program" <<-END
		#!/bin/bash
		exec /share/vm/guest/in_root $sid_root $program "\$@"
	END
	chmod +x "/tmp/bin/$program"
done

over() # PROGRAM BYTES OPTION...
{
	local program=/tmp/bin/$1 options=(-p verbs -e msg -S "$2" -I 50 "${@:3}")
	pair "$*" "$program" "${options[@]}" -d "$A_DEV" -s "$A_IP" -- "$program" "${options[@]}" -d "$B_DEV" "$A_IP"
}
# Not over "verbs;ofi_rxm": if a peer ends while its last message is unread, rxm_close_conn() posts a
# receive to the endpoint that it has closed, and crashes. Case libfabric has messages over it.
for bytes in 1 4096 1000000; do
	# It checks data only of completions that say that they were delivered, which the provider lacks.
	over fi_rma_bw $bytes -o write
	over fi_rma_bw $bytes -o read
	over fi_rma_bw $bytes -o writedata -v
	over fi_msg_bw $bytes -v
	over fi_msg_pingpong $bytes -v
done
