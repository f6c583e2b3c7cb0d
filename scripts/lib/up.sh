# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Shared by scripts/up and scripts/down: the devices, and the record of all that up has made.
#
# A line of the record is "module ITEM", "dummy INTERFACE IFINDEX" or "device NAME INTERFACE IFINDEX". It
# is written before the thing is made, so that a killed up leaves nothing that down does not know. A dummy
# interface gets its IFINDEX, which renaming does not change, when it is there.
PATH=$PATH:/usr/sbin:/sbin   # not in a user's
state=${SROCE_STATE:-/run/sroce-up}   # /run/sroce belongs to the guests of scripts/run
record=$state/up

# Become root, by sudo if it lets this user without a password or there is a terminal to ask for it.
find_root() # COMMAND_LINE; sets become_root
{
	become_root=()
	((EUID)) || return 0
	command -v sudo >/dev/null || die "only root may do this; as root: $*${without_root:+; $without_root}"
	become_root=(sudo)
	[[ -t 0 && -t 2 ]] || become_root=(sudo -n)
	"${become_root[@]}" true 2>/dev/null || die "only root may do this; run: sudo $*${without_root:+; $without_root}"
}

lock_state()
{
	mkdir -p "$state" 2>/dev/null || true
	[[ -w $state ]] || die "cannot write to $state, where scripts/up records the things that it makes"
	exec {state_lock}>"$state/lock"
	flock "$state_lock"
	[[ -e $record ]] || : >"$record"
}

rdma_devices() { find /sys/class/infiniband -mindepth 1 -maxdepth 1 -printf '%f\n' 2>/dev/null | sort; }
is_sroce() { [[ -e /sys/class/infiniband/$1/sroce/abi_version ]]; } # DEVICE
sroce_devices() { local device; rdma_devices | while read -r device; do ! is_sroce "$device" || echo "$device"; done; }

# Lines of DEVICE INTERFACE. Only netlink tells the interface of a device without a GID.
device_interfaces() { [[ ! -d /sys/class/infiniband ]] || rdma link show | sed -n 's,^link \([^/ ]*\)/1 .*netdev \([^ ]*\).*,\1 \2,p'; }

device_on() # INTERFACE: the sroce device there, if there is one
{
	local device netdev
	device_interfaces | while read -r device netdev; do
		[[ $netdev != "$1" ]] || ! is_sroce "$device" || echo "$device"
	done
}

# Lines of IFINDEX INTERFACE
dummies() { ip -o link show type dummy | awk -F': ' '{ sub(/@.*/, "", $2); print $1, $2 }'; }
index_of() { cat "/sys/class/net/$1/ifindex" 2>/dev/null || true; } # INTERFACE

forget() # LINE
{
	grep -vxF -- "$1" "$record" >"$record.new" || true
	mv "$record.new" "$record"
}

# Remove what the lines of the record after the first COUNT ones name, the newest first, and say so.
take_away() # COUNT; sets failed
{
	local lines line kind name rest
	failed=''
	lines=$(tail -n "+$(($1 + 1))" "$record" | tac)
	while read -r line; do
		read -r kind name rest <<<"$line"
		case $kind in
		device) remove_device "$name" "${rest#* }" ;;
		dummy) remove_dummy "$name" "$rest" ;;
		module) remove_module ;;
		*) false ;;
		esac && forget "$line"
	done <<<"$lines"
	return 0   # also if something stays
}

cannot() # WORDS...
{
	say "error: cannot $*"
	failed=yes
	return 1
}

# remove "THING" COMMAND...
remove()
{
	local thing=$1
	shift
	"$@" || { cannot "remove the $thing; to see why: dmesg | tail"; return; }
	say "removed the $thing"
}

# A device of this name on another interface is somebody else's.
remove_device() # NAME IFINDEX
{
	local all device netdev now=''
	all=$(device_interfaces) || { cannot "list the RDMA devices"; return; }
	while read -r device netdev; do
		[[ ! $device || $(index_of "$netdev") != "$2" ]] || ! is_sroce "$device" || now=$device
	done <<<"$all"
	if [[ $now ]]; then
		remove "device $now" rdma link delete "$now"
	elif is_sroce "$1" && [[ $'\n'$all != *$'\n'"$1 "* ]]; then
		cannot "tell the interface of the device $1, which another network namespace may have"
	else
		say "the device $1 is gone already"
	fi
}

remove_dummy() # INTERFACE IFINDEX, which is empty if up was killed
{
	local all index netdev now=''
	all=$(dummies) || { cannot "list the interfaces"; return; }
	while read -r index netdev; do
		[[ $index != "$2" && ($2 || $netdev != "$1") ]] || now=$netdev
	done <<<"$all"
	if [[ $now ]]; then
		remove "interface $now" ip link delete "$now"
	else
		say "the interface $1 is gone already"
	fi
}

# The module does not count its devices: unloading takes them along. With "netns exclusive", those of
# other namespaces cannot be seen.
remove_module()
{
	local devices namespaces
	devices=$(sroce_devices | xargs)
	if [[ ! -d /sys/module/sroce ]]; then
		say "the module is gone already"
	elif [[ $devices ]]; then
		say "the module stays, because these devices use it: $devices"
		return 1
	elif ! namespaces=$(rdma system show); then
		cannot "read the mode of network namespaces"
	elif [[ $namespaces == *"netns exclusive"* ]]; then
		say "the module stays, because other network namespaces may use it; to unload it: rmmod sroce"
		return 1
	else
		remove module rmmod sroce
	fi
}
