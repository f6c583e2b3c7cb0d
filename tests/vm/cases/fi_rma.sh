# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# libfabric's own test fi_rma_bw, with sid's libfabric and rdma-core: WRITE, READ, and WRITE with
# immediate data, of which it checks the data.
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
cat >/tmp/bin/fi_rma_bw <<END
#!/bin/bash
exec /share/vm/guest/in_root $sid_root fi_rma_bw "\$@"
END
chmod +x /tmp/bin/fi_rma_bw

rma() # OPERATION BYTES OPTION...
{
	local options=(-p verbs -e msg -o "$1" -S "$2" -I 50 "${@:3}")
	pair "fi_rma_bw $*" /tmp/bin/fi_rma_bw "${options[@]}" -d "$A_DEV" -s "$A_IP" -- \
		/tmp/bin/fi_rma_bw "${options[@]}" -d "$B_DEV" "$A_IP"
}
for bytes in 1 4096 1000000; do
	# It checks data only of completions that say that they were delivered, which the provider lacks.
	rma write $bytes
	rma read $bytes
	rma writedata $bytes -v
done
