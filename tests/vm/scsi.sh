# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Functions for cases of SCSI over RDMA: the backing store of A's target, and B's disk.

export store=/sys/kernel/config/target/core/fileio_0/disk

make_store()
{
	truncate -s 1M /tmp/disk
	mkdir -p "$store"
	echo "fd_dev_name=/tmp/disk,fd_dev_size=1048576,fd_buffered_io=1" >"$store/control"
	echo 1 >"$store/enable"
}

remove_store() { rmdir "$store" "${store%/*}"; }

# Undo what serve has made in a portal group.
remove_group() # PORTAL_GROUP
{
	local entry
	echo 0 >"$1/enable"
	for entry in "$1"/acls/*/lun_0/lun "$1"/lun/lun_0/store; do
		[[ ! -L $entry ]] || rm "$entry"
	done
	for entry in "$1"/acls/*/lun_0 "$1"/acls/* "$1"/lun/lun_0 "$1"/np/* "$1" "${1%/*}"; do
		[[ ! -d $entry ]] || rmdir "$entry"
	done
}

disk() { local path; for path in /sys/class/scsi_disk/*/device/block/sd*; do [[ ! -e $path ]] || echo "/dev/${path##*/}"; done; }
has_disk() { [[ -b $(disk) ]]; }
no_disk() { [[ ! $(disk) ]]; }

put() { fill /tmp/written 1048576; dd if=/tmp/written of="$(disk)" conv=nocreat,notrunc bs="$1" oflag=direct status=none; digest /tmp/written; } # BLOCK
get() { dd if="$(disk)" of=/tmp/read bs="$1" iflag=direct status=none; digest /tmp/read; } # BLOCK

transfer() { to_server "put 4096" && to_client "get 1M" && to_server "put 1M" && to_client "get 4096"; }

traffic()
{
	until stop_asked; do
		dd if=/tmp/written of="$(disk)" conv=nocreat,notrunc bs=64k oflag=direct status=none count=4
		dd if="$(disk)" of=/tmp/read bs=64k iflag=direct status=none count=4
		cmp -n 262144 /tmp/written /tmp/read
		count_round
	done
}

failed_with_eio() { grep 'Input/output error' /tmp/traffic || { cat /tmp/traffic; return 1; }; }
readable() { dd if="$(disk)" of=/dev/null bs=4096 iflag=direct count=1; }

# A's device stays away until B's I/O fails.
lose_server()
{
	start_traffic "A's device is lost"
	check "A's device is lost under traffic" on_a detach "$A_DEV"
	traffic_status=0
	wait "$traffic_job" || traffic_status=$?
	check "traffic ends with an error of I/O" failed_with_eio
	attach_server
	check "B can read again" on_b wait_until 60 readable
	seen=$(on_b received "$B_DEV")
	over_rdma "data after A's device was lost" "$packets" transfer
}
export -f readable make_store remove_store remove_group disk has_disk no_disk put get traffic
