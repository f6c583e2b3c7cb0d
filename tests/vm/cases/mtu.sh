# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A device offers the largest path MTU that fits its interface, whose MTU may change under traffic.
# guests: any
# links: sroce
# seconds: 90
set -euo pipefail
. /share/vm/lib.sh
MTU=9000 topology

active_mtu() { ibv_devinfo -d "$1" | sed -n 's,.*active_mtu:[[:space:]]*\([0-9]*\).*,\1,p'; }
active_mtu_is() { [[ $(active_mtu "$1") == "$2" ]]; } # DEVICE MTU
set_mtu() { ip link set "$1" mtu "$2"; }
change_mtu() # SECONDS INTERFACE MTU...: cycle through these MTUs
{
	local end=$((SECONDS + $1)) interface=$2 mtu
	shift 2
	while ((SECONDS < end)); do
		for mtu; do
			set_mtu "$interface" "$mtu"
			sleep 0.1
		done
	done
}
export -f active_mtu active_mtu_is set_mtu change_mtu

for mtu in 1500:1024 4200:4096 9000:4096; do
	on_a set_mtu "$A_IF" ${mtu%:*}
	on_b set_mtu "$B_IF" ${mtu%:*}
	check "interface ${mtu%:*}: A offers ${mtu#*:}" on_a active_mtu_is "$A_DEV" ${mtu#*:}
	check "interface ${mtu%:*}: B offers ${mtu#*:}" on_b active_mtu_is "$B_DEV" ${mtu#*:}
	tool "interface ${mtu%:*}: ib_write_bw at ${mtu#*:}" ib_write_bw -x GID -F -m ${mtu#*:} -s 65536 -n 64
done

on_a change_mtu 5 "$A_IF" 1500 9000 4200 &
changer=$!
duet "path MTU 1024, interface between 1500 and 9000" rc_verify --duration 4 --mtu 1024
wait $changer

# Packets that exceed the interface's MTU are lost. Retries must last until they fit again.
on_a set_mtu "$A_IF" 9000
(
	sleep 1
	on_a set_mtu "$A_IF" 1500
	sleep 0.5
	on_a set_mtu "$A_IF" 9000
) &
changer=$!
duet "path MTU 4096, interface 1500 for half a second" rc_verify --duration 4 --mtu 4096 --timeout 17
wait $changer
on_b set_mtu "$B_IF" 9000
tool "traffic flows at 4096 afterwards" ibv_rc_pingpong -g GID -m 4096 -n 50 -s 10000 -c
