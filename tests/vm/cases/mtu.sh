# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A device offers the largest path MTU that fits its interface, whose MTU may change under traffic.
# guests: any
# links: sroce
# seconds: 90
# full: vm-newest-native vm-debug vm-6.12 vm-6.1
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
has_no_gid() { ! gid_index "$@"; } # DEVICE ADDRESS
export -f active_mtu active_mtu_is set_mtu change_mtu has_no_gid

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

# Below 1280 an interface has no IPv6. IPv4 goes on.
for end in a b; do
	interface=$A_IF
	[[ $end == a ]] || interface=$B_IF
	on_$end set_mtu "$interface" 1000
done
check "interface 1000: A offers 512" on_a active_mtu_is "$A_DEV" 512
check "interface 1000: A's IPv6 GID has gone" on_a wait_until 10 has_no_gid "$A_DEV" "$A_IP6"
check "interface 1000: B's IPv6 GID has gone" on_b wait_until 10 has_no_gid "$B_DEV" "$B_IP6"
tool "interface 1000: IPv4" ibv_rc_pingpong -g GID -m 512 -n 50 -s 10000 -c
on_a address_add "$A_IF" "$A_IP" "$A_IP6" 1500
on_b address_add "$B_IF" "$B_IP" "$B_IP6" 1500
A_GID=$(on_a wait_for_gid "$A_DEV" "$A_IP6")
B_GID=$(on_b wait_for_gid "$B_DEV" "$B_IP6")
on_b wait_until 10 ping -c 1 -W 1 "$A_IP6"
tool "interface 1500 again: IPv6" ibv_rc_pingpong -g GID -n 50 -s 10000 -c
