# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# fio's engine for RDMA: WRITE, READ, and SEND, whose data the receiver checks.
# guests: any
# links: sroce
# seconds: 90
# parts: fio
# stages: none
# full: vm-newest-native vm-newest vm-debug
set -euo pipefail
. /share/vm/lib.sh
topology

port=20000
run() # VERB BLOCK SIZE [SERVER_OPTION...]
{
	port=$((port + 1))
	local both=("$programs/fio" --name=job --ioengine=rdma --port="$port" --bs="$2" --size="$3" --thread)
	pair "fio $1, blocks of $2" "${both[@]}" --rw=read --iodepth=16 "${@:4}" -- \
		"${both[@]}" --rw=write --iodepth=8 --iodepth_batch_complete=1 --hostname="$A_IP" --verb="$1" --buffer_pattern=0x12345678
}
# fio cannot check the data of these: the server does not look at its memory, of which the client
# chooses any block, and jobs that read, which verify, are servers.
for verb in write read; do
	run $verb 4k 16m
	run $verb 1m 64m
done
# fio allows no RNR retry, so it sends no more than the 16 receives that the server has posted first.
run send 4k 64k --verify=pattern --verify_pattern=0x12345678
run send 1m 16m --verify=pattern --verify_pattern=0x12345678
