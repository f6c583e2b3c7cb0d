# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Shared by scripts/up and scripts/down: the devices, and the record of all that up has made.
#
# A line of the record is "module ITEM", "dummy INTERFACE" or "device NAME INTERFACE". It is written before
# the thing is made, so that a killed up leaves nothing that down does not know.
PATH=$PATH:/usr/sbin:/sbin   # not in a user's
state=${SROCE_STATE:-/run/sroce}
record=$state/up

# Become root, by sudo if it lets this user without a password or there is a terminal to ask for it.
find_root() # COMMAND_LINE; sets become_root
{
	become_root=()
	((EUID)) || return 0
	become_root=(sudo)
	[[ -t 0 && -t 2 ]] || become_root=(sudo -n)
	"${become_root[@]}" true 2>/dev/null || die "only root may do this; run: sudo $*"
}

lock_state()
{
	mkdir -p "$state"
	exec {state_lock}>"$state/lock"
	flock "$state_lock"
	[[ -e $record ]] || : >"$record"
}

rdma_devices() { find /sys/class/infiniband -mindepth 1 -maxdepth 1 -printf '%f\n' 2>/dev/null | sort; }
is_sroce() { [[ -e /sys/class/infiniband/$1/sroce/mode ]]; } # DEVICE
sroce_devices() { local device; rdma_devices | while read -r device; do ! is_sroce "$device" || echo "$device"; done; }

# Lines of DEVICE INTERFACE. Only netlink tells the interface of a device without a GID.
device_interfaces() { rdma link show 2>/dev/null | sed -n 's,^link \([^/ ]*\)/1 .*netdev \([^ ]*\).*,\1 \2,p'; }

device_on() # INTERFACE: the sroce device there, if there is one
{
	local device netdev
	device_interfaces | while read -r device netdev; do
		[[ $netdev != "$1" ]] || ! is_sroce "$device" || echo "$device"
	done
}

interfaces_of_kind() { ip -o link show type "$1" 2>/dev/null | awk -F': ' '{ sub(/@.*/, "", $2); print $2 }'; }

forget() # LINE
{
	grep -vxF -- "$1" "$record" >"$record.new" || true
	mv "$record.new" "$record"
}

# Remove what the lines of the record after the first COUNT ones name, the newest first, and say so.
take_away() # COUNT; sets failed
{
	local lines line kind name netdev
	failed=''
	lines=$(tail -n "+$(($1 + 1))" "$record" | tac)
	while read -r line; do
		read -r kind name netdev <<<"$line"
		case $kind in
		device) remove_device "$name" "$netdev" ;;
		dummy) remove_dummy "$name" ;;
		module) remove_module ;;
		*) false ;;
		esac && forget "$line"
	done <<<"$lines"
	return 0   # also if something stays
}

# remove "THING" COMMAND...
remove()
{
	local thing=$1
	shift
	if ! "$@"; then
		say "error: cannot remove the $thing; to see why: dmesg | tail"
		failed=yes
		return 1
	fi
	say "removed the $thing"
}

remove_device() # NAME INTERFACE
{
	if ! device_interfaces | grep -qxF -- "$1 $2" || ! is_sroce "$1"; then
		say "the device $1 is gone already"
	else
		remove "device $1" rdma link delete "$1"
	fi
}

remove_dummy() # INTERFACE
{
	if ! interfaces_of_kind dummy | grep -qxF -- "$1"; then
		say "the interface $1 is gone already"
	else
		remove "interface $1" ip link delete "$1"
	fi
}

# The module does not count its devices: unloading takes them along. With "netns exclusive", those of
# other namespaces cannot be seen.
remove_module()
{
	local devices
	devices=$(sroce_devices | xargs)
	if [[ ! -d /sys/module/sroce ]]; then
		say "the module is gone already"
	elif [[ $devices ]]; then
		say "the module stays, because these devices use it: $devices"
		return 1
	elif rdma system show | grep -q 'netns exclusive'; then
		say "the module stays, because other network namespaces may use it; to unload it: rmmod sroce"
		return 1
	else
		remove module rmmod sroce
	fi
}
