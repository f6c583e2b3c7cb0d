# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# NFS over RDMA, versions 3 and 4.2: the kernel's server exports a folder, the other guest mounts it.
# guests: two
# links: any
# kernels: 6.12
# seconds: 480
# stages: none
# full: vm-6.12-two
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/ulp.sh
topology
remember_ends

file=/tmp/export/data survives=yes

# Put the entries into the caches of the server that its daemons would put there: every client is
# "all", which has the folder, of file system 0.
fill_caches()
{
	local caches=/proc/net/rpc never=2147483647
	echo "nfsd $B_IP $never all" >$caches/auth.unix.ip/channel
	echo "0 $never 1 0" >$caches/auth.unix.gid/channel
	# Read and write, synchronous, no squashing of root, no check of subtrees, any port
	echo "all /tmp/export $never $((0x2402)) 65534 65534 0" >$caches/nfsd.export/channel
	printf '%s\n' "all 1 \\x00000000 $never /tmp/export" >$caches/nfsd.fh/channel
}

ready() { ss -Hltn | grep -q ':111 '; }

serve()
{
	modprobe -a nfsd rpcrdma
	mkdir -p /tmp/export
	touch /tmp/export/data
	mount -t nfsd nfsd /proc/fs/nfsd
	fill_caches
	setsid /share/vm/guest/rpc_services /tmp/export >/tmp/rpc_services 2>&1 </dev/null &
	echo $! >/tmp/rpc_services.pid
	wait_until 10 ready
	echo 10 >/proc/fs/nfsd/nfsv4gracetime
	echo "rdma 20049" >/proc/fs/nfsd/portlist
	echo 2 >/proc/fs/nfsd/threads
}

stop_serving()
{
	echo 0 >/proc/fs/nfsd/threads
	umount /proc/fs/nfsd
	kill "$(</tmp/rpc_services.pid)"
	end_modules nfsd rpcrdma
}

connect() # MOUNT_OPTION
{
	modprobe -a nfsv3 nfsv4 rpcrdma
	mkdir -p /mnt
	mount -i -t nfs -o "$(</tmp/version),proto=rdma,port=20049,mountproto=tcp,mountaddr=$A_IP,mountport=111,addr=$A_IP,clientaddr=$B_IP" "$A_IP:$(</tmp/path)" /mnt
}

disconnect()
{
	umount /mnt
	end_modules nfsv4 nfsv3 nfs rpcrdma
}

put() # BLOCK [FLAG]
{
	fill /tmp/written 1048576
	dd if=/tmp/written of=/mnt/data bs="$1" conv=notrunc,fsync status=none ${2:+oflag=$2}
	digest /tmp/written
}

get() # BLOCK [FLAG]
{
	echo 3 >/proc/sys/vm/drop_caches
	dd if=/mnt/data of=/tmp/read bs="$1" status=none ${2:+iflag=$2}
	digest /tmp/read
}

transfer() { to_server "put 1M" && to_client "get 1M" && to_server "put 4096 direct" && to_client "get 4096 direct"; }

traffic()
{
	until stop_asked; do
		dd if=/tmp/written of=/mnt/traffic bs=64k count=4 conv=notrunc oflag=direct status=none
		dd if=/mnt/traffic of=/tmp/again bs=64k iflag=direct status=none
		cmp -n 262144 /tmp/written /tmp/again
		count_round
	done
}
choose() { echo "$1" >/tmp/version; echo "$2" >/tmp/path; } # VERSION PATH
export -f fill_caches ready serve stop_serving connect disconnect put get traffic choose

on_b choose vers=4.2 /
ulp_checks 1500
on_b choose vers=3,nolock /tmp/export
ulp_checks 1500
