# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The path MTU that fits is what a device offers, and the interface's MTU may change under traffic.
# guests: any
# links: sroce
# seconds: 90
set -euo pipefail
. /share/vm/lib.sh
MTU=9000 topology

active_mtu() { ibv_devinfo -d "$1" | sed -n 's,.*active_mtu:[[:space:]]*\([0-9]*\).*,\1,p'; }
active_mtu_is() { [[ $(active_mtu "$1") == "$2" ]]; } # DEVICE MTU
set_mtu() { ip link set "$1" mtu "$2"; }
change_mtu() # SECONDS INTERFACE MTU...: one after the other, again and again
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

# What is too long for the interface is lost; retries last until it fits again.
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
tool "afterwards data flows at 4096" ibv_rc_pingpong -g GID -m 4096 -n 50 -s 10000 -c
