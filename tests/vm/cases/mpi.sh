# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Open MPI over UCX: eight ranks on two devices, of which each checks every element of rings, sums and exchanges.
# guests: one
# links: sroce
# seconds: 300
# stages: vm-newest-native
# full: vm-newest vm-debug-native
set -euo pipefail
. /share/vm/lib.sh
topology
export LIMIT=120

# Hosts of Open MPI are namespaces, in which mpirun starts its daemon by this agent: AGENT HOST COMMAND...
mkdir -p /tmp/mpi /etc/netns/{a,b}
cat >/tmp/mpi/agent <<-'EOF'
	#!/bin/bash
	exec ip netns exec "$1" bash -c "${*:2}"
EOF
# Both namespaces see both devices. Ranks poll, so they run at idle priority.
cat >/tmp/mpi/rank <<-EOF
	#!/bin/bash
	[[ \$(ip netns identify) == a ]] && device=$A_DEV || device=$B_DEV
	UCX_NET_DEVICES=\$device:1 exec chrt -i 0 /share/vm/guest/mpi_check
EOF
chmod +x /tmp/mpi/{agent,rank}
before=$(hostname)
[[ ! -e /etc/hosts ]] || cp /etc/hosts /tmp/mpi/hosts
leave_case()
{
	hostname "$before"
	rm -rf /etc/netns/{a,b} /etc/hosts
	[[ ! -e /tmp/mpi/hosts ]] || cp /tmp/mpi/hosts /etc/hosts
}
printf '%s\n' "$A_IP a" "$B_IP b" | tee /etc/netns/{a,b}/hosts >/etc/hosts
hostname a

mpi() # UCX_TRANSPORT
{
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --host a:4,b:4 --oversubscribe \
		--mca plm_rsh_agent /tmp/mpi/agent --mca oob_tcp_if_include "$A_IP/24" \
		--mca pml ucx --mca osc ucx --mca btl self -x UCX_TLS="$1" /tmp/mpi/rank
}
export -f mpi
# The last are those that UCX chooses by default between two hosts. On one host it would share memory.
transports="rc_v,self"
[[ $KERNEL$MODE == newestnative ]] || transports+=" ud_v,self"
transports+=" ^shm"
for transport in $transports; do
	says "eight ranks over $transport" 0 "^8 ranks have checked every element$" on_a mpi "$transport"
done
