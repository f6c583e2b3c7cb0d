# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# RDS: reliable datagrams between sockets of the kernel, every byte echoed; memory that is read and
# written remotely. (Its regions permit no atomics.)
# guests: two
# links: any
# kernels: 6.12
# seconds: 240
# stages: none
# full: vm-6.12-two
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/ulp.sh
topology
remember_ends

survives=yes
serve()
{
	modprobe rds_rdma && start_echo rds || return
	setsid /share/vm/guest/rds_memory serve "$A_IP" >/tmp/memory 2>&1 </dev/null &
	echo $! >/tmp/memory.pid
	sleep 1
	kill -0 $!
}
stop_serving()
{
	kill "$(</tmp/memory.pid)"
	stop_echo
	end_modules rds_rdma rds
}
connect() { modprobe rds_rdma; }
disconnect() { end_modules rds_rdma rds; }
transfer()
{
	on_b /share/vm/guest/ulp_socket rds send "$B_IP" "$A_IP" 2 &&
		on_b /share/vm/guest/rds_memory lend "$B_IP" "$A_IP" 2
}
traffic() { /share/vm/guest/ulp_socket rds traffic "$B_IP" "$A_IP"; }
export -f serve stop_serving connect disconnect traffic

ulp_checks 400
