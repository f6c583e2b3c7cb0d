# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# SRP: the kernel's SCSI target serves a file, ib_srp has it as a disk.
# guests: two
# links: any
# kernels: 6.12 6.1
# seconds: 400
# stages: none
# full: vm-6.12-two vm-6.1-two vm-6.12-two-rxe
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/ulp.sh
. /share/vm/scsi.sh
topology
remember_ends

file=/tmp/disk survives=yes

# ib_srpt names a port by the interface identifier in its first GID. Every client of rdma_cm has the
# server's address as its name.
export_store()
{
	local port group
	port=$(cut -d: -f5- "/sys/class/infiniband/$A_DEV/ports/1/gids/0")
	group=/sys/kernel/config/target/srpt/$port/$port
	mkdir -p "$group/lun/lun_0" "$group/acls/$A_IP/lun_0"
	ln -s "$store" "$group/lun/lun_0/store"
	ln -s "$group/lun/lun_0" "$group/acls/$A_IP/lun_0/lun"
	echo 1 >"$group/enable"
}

serve()
{
	modprobe -a ib_srpt target_core_file
	make_store
	export_store
	echo 5555 >/sys/kernel/config/target/srpt/discovery_auth/rdma_cm_port
}

# The port of a new device has the same name, but none of the groups.
resume()
{
	remove_group /sys/kernel/config/target/srpt/*:*/*:*
	export_store
}

stop_serving()
{
	remove_group /sys/kernel/config/target/srpt/*:*/*:*
	remove_store
	rmdir /sys/kernel/config/target/srpt
	end_modules ib_srpt target_core_file target_core_mod
}

# The target's name is A's node GUID, twice.
connect()
{
	local guid
	modprobe -a sd_mod ib_srp
	guid=$(</tmp/guid)
	echo 1 >/sys/module/ib_srp/parameters/reconnect_delay
	echo "id_ext=$guid,ioc_guid=$guid,dest=$A_IP:5555" >"$(echo /sys/class/infiniband_srp/srp-*-1)/add_target"
	wait_until 10 has_disk
}

disconnect()
{
	local port
	for port in /sys/class/srp_remote_ports/*/delete; do
		[[ ! -e $port ]] || echo 1 >"$port"
	done
	wait_until 10 no_disk && end_modules ib_srp scsi_transport_srp sd_mod
}

remember_guid() { echo "$1" >/tmp/guid; } # GUID
node_guid() { tr -d : <"/sys/class/infiniband/$A_DEV/node_guid"; }
export -f export_store serve resume stop_serving connect disconnect remember_guid node_guid

on_b remember_guid "$(on_a node_guid)"
ulp_checks 1500
