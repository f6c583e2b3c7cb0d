# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# iSER: the kernel's SCSI target serves a file, open-iscsi has it as a disk.
# guests: two
# links: any
# kernels: 6.12 6.1
# seconds: 400
# parts: open-iscsi
# stages: none
# full: vm-6.12-two vm-6.1-two vm-6.12-two-rxe
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/ulp.sh
. /share/vm/scsi.sh
topology
remember_ends

file=/tmp/disk survives=yes

serve()
{
	local group=/sys/kernel/config/target/iscsi/iqn.2026-01.test:disk/tpgt_1 attribute
	modprobe -a ib_isert target_core_file
	make_store
	mkdir -p "$group/lun/lun_0" "$group/np/0.0.0.0:3260"
	ln -s "$store" "$group/lun/lun_0/store"
	for attribute in authentication=0 demo_mode_write_protect=0 generate_node_acls=1; do
		echo "${attribute#*=}" >"$group/attrib/${attribute%=*}"
	done
	echo 1 >"$group/np/0.0.0.0:3260/iser"
	echo 1 >"$group/enable"
}

stop_serving()
{
	remove_group /sys/kernel/config/target/iscsi/iqn.2026-01.test:disk/tpgt_1
	remove_store
	rmdir /sys/kernel/config/target/iscsi
	end_modules ib_isert iscsi_target_mod target_core_file target_core_mod
}

admin() { LD_LIBRARY_PATH=$programs "$programs/iscsiadm" "$@"; }
node() { admin -m node -T iqn.2026-01.test:disk -p "$A_IP:3260" "$@"; }

connect()
{
	modprobe -a sd_mod ib_iser
	mkdir -p /etc/iscsi /run/lock/iscsi
	echo InitiatorName=iqn.2026-01.test:b >/etc/iscsi/initiatorname.iscsi
	: >/etc/iscsi/iscsid.conf
	LD_LIBRARY_PATH=$programs setsid "$programs/iscsid" -f >/tmp/iscsid 2>&1 </dev/null &
	echo $! >/tmp/iscsid.pid
	node -o new -I iser
	node -o update -n node.session.timeo.replacement_timeout -v 20
	node --login
	wait_until 10 has_disk
}

# The daemon must not outlive a logout that fails, or the next connect would start another.
disconnect()
{
	local failed=''
	{ node --logout && node -o delete; } || failed=yes
	kill "$(</tmp/iscsid.pid)" || failed=yes
	wait_until 10 no_disk && end_modules ib_iser libiscsi scsi_transport_iscsi sd_mod && [[ ! $failed ]]
}
export -f serve stop_serving admin node connect disconnect

ulp_checks 1500
