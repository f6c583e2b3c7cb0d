# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# NVMe over Fabrics: nvmet serves a file, nvme-rdma has it as a disk.
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

file=/tmp/disk survives=yes

serve()
{
	local subsystem=/sys/kernel/config/nvmet/subsystems/disk port=/sys/kernel/config/nvmet/ports/1
	modprobe nvmet-rdma
	truncate -s 1M /tmp/disk
	mkdir "$subsystem" "$subsystem/namespaces/1" "$port"
	echo 1 >"$subsystem/attr_allow_any_host"
	echo /tmp/disk >"$subsystem/namespaces/1/device_path"
	echo 1 >"$subsystem/namespaces/1/buffered_io"
	echo 1 >"$subsystem/namespaces/1/enable"
	echo rdma >"$port/addr_trtype"
	echo ipv4 >"$port/addr_adrfam"
	echo 0.0.0.0 >"$port/addr_traddr"
	echo 4420 >"$port/addr_trsvcid"
	ln -s "$subsystem" "$port/subsystems/disk"
}

stop_serving()
{
	cd /sys/kernel/config/nvmet
	rm ports/1/subsystems/disk
	rmdir ports/1 subsystems/disk/namespaces/1 subsystems/disk
	cd /
	end_modules nvmet-rdma nvmet
}

has_disk() { [[ -b /dev/nvme0n1 ]] && blockdev --getsize64 /dev/nvme0n1; }
no_disk() { [[ ! -e /dev/nvme0n1 ]]; }

connect()
{
	modprobe nvme-rdma
	echo "transport=rdma,traddr=$A_IP,trsvcid=4420,nqn=disk,nr_io_queues=1,reconnect_delay=1" >/dev/nvme-fabrics
	wait_until 10 has_disk
}

disconnect()
{
	local controller
	for controller in /sys/class/nvme/*/delete_controller; do
		[[ ! -e $controller ]] || echo 1 >"$controller"
	done
	wait_until 10 no_disk && end_modules nvme-rdma nvme-fabrics nvme-core
}

put() { fill /tmp/written 1048576; dd if=/tmp/written of=/dev/nvme0n1 conv=nocreat,notrunc bs="$1" oflag=direct status=none; digest /tmp/written; } # BLOCK
get() { dd if=/dev/nvme0n1 of=/tmp/read bs="$1" iflag=direct status=none; digest /tmp/read; } # BLOCK

transfer() { to_server "put 4096" && to_client "get 1M" && to_server "put 1M" && to_client "get 4096"; }

traffic()
{
	until stop_asked; do
		dd if=/tmp/written of=/dev/nvme0n1 conv=nocreat,notrunc bs=64k oflag=direct status=none count=4
		dd if=/dev/nvme0n1 of=/tmp/read bs=64k iflag=direct status=none count=4
		cmp -n 262144 /tmp/written /tmp/read
		count_round
	done
}
export -f serve stop_serving connect disconnect has_disk no_disk put get traffic

ulp_checks 1500
