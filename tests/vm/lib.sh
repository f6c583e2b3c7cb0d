# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Functions for cases. A case is a bash script that sources this file, calls topology, and runs
# checks.
#
# There are two ends, A and B, each with an RDMA device:
#
#   one guest     namespace a [ eth_a ]---veth---[ eth_b ] namespace b
#   two guests    guest a     [ eth0  ]---QEMU---[ eth0  ] guest b
#
# on_a and on_b run a command (or a function of this file) at one end, so that a case can run in
# either setup. The types of the devices are $A_TYPE and $B_TYPE: sroce or rxe.

A_IP=10.0.0.1 B_IP=10.0.0.2
A_IP6=fd00::1 B_IP6=fd00::2
A_DEV=${A_TYPE:-none}_a B_DEV=${B_TYPE:-none}_b
programs=/share/programs
: "${TIME_FACTOR:=1}"   # how much slower this guest is than a real machine; scales time limits

if [[ ${GUESTS:-1} == 2 ]]; then
	A_IF=eth0 B_IF=eth0
else
	A_IF=eth_a B_IF=eth_b
fi
export A_IP B_IP A_IP6 B_IP6 A_DEV B_DEV A_IF B_IF programs

# --- TAP ------------------------------------------------------------------------------------------

tests_run=0 last_check=$EPOCHREALTIME

ok()
{
	echo "ok $((++tests_run)) - $* ($(lap) s)"
	last_check=$EPOCHREALTIME
}

# Seconds since the previous check.
lap()
{
	awk -v from="$last_check" -v to="$EPOCHREALTIME" 'BEGIN { printf "%.2f", to - from }'
}

not_ok() # NAME [OUTPUT]
{
	echo "not ok $((++tests_run)) - $1"
	[[ ! ${2:-} ]] || printf '#   %s\n' "${2//$'\n'/$'\n'#   }"
}

skip() { echo "ok $((++tests_run)) - $1 # SKIP $2"; }

# check NAME COMMAND...: the command must succeed
check()
{
	local name=$1 output status=0
	shift
	output=$("$@" 2>&1) || status=$?
	if ((status)); then
		not_ok "$name" "$output
status $status of: $*"
	else
		ok "$name"
	fi
}

# check_fails NAME PATTERN COMMAND...: the command must fail with output that matches PATTERN
check_fails()
{
	local name=$1 pattern=$2 output status=0
	shift 2
	output=$("$@" 2>&1) || status=$?
	if ((status == 0)); then
		not_ok "$name" "did not fail: $*"
	elif ! grep -qE -- "$pattern" <<<"$output"; then
		not_ok "$name" "the output does not match '$pattern': $output"
	else
		ok "$name"
	fi
}

# says NAME STATUS PATTERN COMMAND...: the command must exit with STATUS, and its output match
# PATTERN
says()
{
	local name=$1 wanted=$2 pattern=$3 output status=0
	shift 3
	output=$("$@" 2>&1) || status=$?
	if ((status != wanted)); then
		not_ok "$name" "status $status instead of $wanted of: $*
$output"
	elif ! grep -qE -- "$pattern" <<<"$output"; then
		not_ok "$name" "the output does not match '$pattern': $output"
	else
		ok "$name"
	fi
}

# wait_until SECONDS COMMAND...: repeat the command until it succeeds
wait_until()
{
	local deadline=$((SECONDS + $1 * TIME_FACTOR))
	shift
	until "$@" >/dev/null 2>&1; do
		((SECONDS <= deadline)) || return 1
		sleep 0.05
	done
}

# --- what a case may leave behind ------------------------------------------------------------------

references() { cat /sys/module/sroce/refcnt; }
objects() { rdma resource show | sed 's/^[0-9]*: //' | sort; }

# remember_objects; then settled says whether references and objects are as they were.
remember_objects() { start_references=$(references) start_objects=$(objects); }
settled() { [[ $(references) == "$start_references" && $(objects) == "$start_objects" ]]; }

# Free what caches only keep for later.
shrink_caches()
{
	local cache
	echo 3 >/proc/sys/vm/drop_caches
	for cache in /sys/kernel/slab/*/shrink; do
		echo 1 >"$cache" 2>/dev/null || true
	done
}

# --- ends -----------------------------------------------------------------------------------------

# Up to 6.12, rxe supports the initial namespace only.
rxe_knows_namespaces() { [[ ${KERNEL:-} != 6.* ]]; }

namespace_of() # a|b
{
	local type=$A_TYPE
	[[ $1 == a ]] || type=$B_TYPE
	[[ $type == rxe ]] && ! rxe_knows_namespaces || echo "$1"
}

on_a()
{
	if [[ $GUESTS == 2 ]]; then
		timeout "$((${LIMIT:-60} * TIME_FACTOR))" /share/vm/guest/call "$@"
	else
		in_namespace "$(namespace_of a)" "$@"
	fi
}

on_b()
{
	if [[ $GUESTS == 2 ]]; then
		on_other_guest "$@"
	else
		in_namespace "$(namespace_of b)" "$@"
	fi
}

in_namespace() # NAMESPACE|"" COMMAND...
{
	local enter=()
	[[ ! $1 ]] || enter=(ip netns exec "$1")
	shift
	timeout "$((${LIMIT:-60} * TIME_FACTOR))" "${enter[@]}" /share/vm/guest/call "$@"
}

on_other_guest()
{
	local file deadline=$((SECONDS + (${LIMIT:-60} + 10) * TIME_FACTOR))
	file=/share/rpc/$BASHPID.$RANDOM$RANDOM
	# The agent also needs the functions that the case has exported.
	{ declare -fx; printf '%q ' timeout "$((${LIMIT:-60} * TIME_FACTOR))" /share/vm/guest/call "$@"; } >"$file.new"
	mv "$file.new" "$file.cmd"
	# A process that no signal ends, such as one in state D, keeps "timeout" waiting.
	until [[ -e $file.status ]] || ((SECONDS > deadline)); do
		read -rt 0.05 <>/run/silence || true
	done
	cat "$file.out"
	[[ -e $file.status ]] || return 124
	return "$(<"$file.status")"
}

# --- topology -------------------------------------------------------------------------------------

# topology [none]: set up both ends with addresses and, unless "none", with RDMA devices
topology()
{
	set -E
	trap 'stopped_at="$BASH_COMMAND, ${BASH_SOURCE[0]##*/} line $LINENO"' ERR
	trap leave_topology EXIT
	echo "# $CASE on $KERNEL"
	if [[ $GUESTS == 2 ]]; then
		echo "# guest a: $A_DEV on $A_IF $A_IP ---QEMU network--- $B_IP $B_IF on $B_DEV: guest b"
		wait_until 20 test -e /share/rpc/ready
	else
		echo "# namespace '$(namespace_of a)': $A_DEV on $A_IF $A_IP ---veth--- $B_IP $B_IF on $B_DEV: namespace '$(namespace_of b)'"
		make_veth
	fi
	on_a load_module "$A_TYPE"
	on_b load_module "$B_TYPE"
	on_a install_provider
	on_b install_provider
	on_a address_add "$A_IF" "$A_IP" "$A_IP6" "${MTU:-1500}"
	on_b address_add "$B_IF" "$B_IP" "$B_IP6" "${MTU:-1500}"
	[[ ${1:-} != none ]] || return 0
	on_a link_add "$A_DEV" "$A_TYPE" "$A_IF"
	on_b link_add "$B_DEV" "$B_TYPE" "$B_IF"
	A_GID=$(on_a wait_for_gid "$A_DEV" "$A_IP")
	B_GID=$(on_b wait_for_gid "$B_DEV" "$B_IP")
	A_GID6=$(on_a wait_for_gid "$A_DEV" "$A_IP6")
	B_GID6=$(on_b wait_for_gid "$B_DEV" "$B_IP6")
	on_b wait_until 10 ping -c 1 -W 1 "$A_IP"
	on_b wait_until 10 ping -c 1 -W 1 "$A_IP6"
	echo "# ready after $(lap) s"
	last_check=$EPOCHREALTIME
}

make_veth()
{
	local end namespace
	ip link add eth_a type veth peer name eth_b
	for end in a b; do
		namespace=$(namespace_of $end)
		[[ $namespace ]] || continue
		ip netns add "$namespace"
		ip -n "$namespace" link set lo up
		ip link set "eth_$end" netns "$namespace"
	done
}

leave_topology()
{
	local status=$?
	trap - EXIT ERR
	LIMIT=30
	! declare -F leave_case >/dev/null || leave_case
	((status == 0)) || not_ok "$CASE runs to its end" "status $status of: ${stopped_at:-exit}"
	if [[ $GUESTS == 2 ]]; then
		check "B is cleaned up" on_b remove_all
	fi
	check "everything is cleaned up and modules unload" remove_all
	echo "1..$tests_run"
}

remove_all() # devices, interfaces, namespaces, modules, so that every case starts from the same state
{
	local name module status=0
	for name in $(rdma_devices); do
		rdma link delete "$name"
	done
	for name in $(ip netns list | cut -d' ' -f1); do
		ip netns pids "$name" | xargs -r kill -9
		ip netns delete "$name"
	done
	if [[ $GUESTS == 2 ]]; then
		tc qdisc del dev eth0 root 2>/dev/null
		ip address flush dev eth0
		ip link set eth0 down mtu 1500
	fi
	# Deleting the kernel's own interfaces (lo, sit0) and QEMU's fails, as it should.
	for name in /sys/class/net/*; do
		ip link delete "${name##*/}" 2>/dev/null
	done
	for module in ulp sroce rdma_rxe siw exporter; do
		[[ ! -d /sys/module/$module ]] || wait_until 10 rmmod "$module" || {
			echo "module $module does not unload: $(rmmod "$module" 2>&1), references $(</sys/module/$module/refcnt)"
			status=1
		}
	done
	return $status
}

rdma_devices() { rdma link show | sed -n 's,^link \([^/]*\)/.*,\1,p' | grep -E '^(sroce|rxe|siw)'; }

as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

load_module() # sroce|rxe
{
	case $1 in
	sroce)
		# sroce is not below /lib/modules, so load by hand the modules that it depends on.
		modprobe -a ib_uverbs udp_tunnel ip6_udp_tunnel
		[[ -d /sys/module/sroce ]] || insmod /share/module/sroce.ko
		;;
	rxe) modprobe rdma_rxe ;;
	esac
}

# Decide which provider programs get: ours, or librxe. libibverbs asks that of the last line first, and
# appends its private ABI to the name, as in "-rdmav34.so".
install_provider()
{
	echo "driver rxe" >/etc/libibverbs.d/rxe.driver
	[[ ${MODE:-rxe} == rxe ]] || echo "driver $programs/libsroce" >>/etc/libibverbs.d/rxe.driver
}

address_add() # INTERFACE IPV4 IPV6 [MTU]
{
	ip link set "$1" up mtu "${4:-1500}"
	ip address replace "$2/24" dev "$1"
	ip address replace "$3/64" dev "$1" nodad
}

# Dummy interfaces NAME0, NAME1 and so on, each with addresses of its own
add_dummies() # NAME COUNT
{
	local i
	for ((i = 0; i < $2; i++)); do
		ip link add "$1$i" type dummy && address_add "$1$i" 10.77.$i.1 fd77:$i::1 || return
	done
}

link_add() { rdma link add "$1" type "$2" netdev "$3"; } # DEVICE TYPE INTERFACE

# Wait until a device has the GID of an address, and print its index.
wait_for_gid() # DEVICE ADDRESS
{
	wait_until 10 gid_index "$@" || { echo "no GID $2 on $1" >&2; return 1; }
	gid_index "$@"
}

gid_index() # DEVICE ADDRESS
{
	local file gid
	gid=$(gid_of "$2")
	for file in "/sys/class/infiniband/$1/ports/1/gids"/*; do
		[[ $(<"$file") == "$gid" ]] || continue
		basename "$file"
		return
	done
	return 1
}

gid_of() # ADDRESS: the GID as sysfs prints it; supports only the two forms used here
{
	local a b c d
	if [[ $1 == *.* ]]; then
		IFS=. read -r a b c d <<<"$1"
		printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x\n' "$a" "$b" "$c" "$d"
	else
		printf '%04x:0000:0000:0000:0000:0000:0000:%04x\n' "0x${1%%::*}" "0x${1##*::}"
	fi
}

# --- traffic --------------------------------------------------------------------------------------

# tool NAME TOOL OPTION...: run the same tool at both ends, the server at A. The word GID in the
# options is replaced by the end's GID index. The client also gets A's address as its last argument.
tool()
{
	local name=$1 program=$2
	shift 2
	pair "$name" "$program" -d "$A_DEV" "${@/#GID/$A_GID}" -- "$program" -d "$B_DEV" "${@/#GID/$B_GID}" "$A_IP"
}

# pair NAME SERVER... -- CLIENT...: start the server at A and, once it listens, the client at B.
# Both must succeed.
pair()
{
	local name=$1
	shift
	if talk "$@"; then
		ok "$name"
	else
		not_ok "$name" "$pair_report"
	fi
}

# talk SERVER... -- CLIENT...: the same without a check. $pair_output and $pair_server_output have the
# output of the client and the server, $pair_status and $pair_server_status how they ended: 124 means
# that the time limit ended them. A ping-pong that finds wrong data fails.
talk()
{
	local server=() work job
	pair_status=0 pair_server_status=0
	while [[ $1 != -- ]]; do
		server+=("$1")
		shift
	done
	shift
	work=$(mktemp -d)
	# Run tools that poll at idle priority, or the peer would wait for the end of their time
	# slice.
	on_a chrt -i 0 "${server[@]}" >"$work/server" 2>&1 &
	job=$!
	if ! wait_until 60 listens_or_ended "$job" "${server[0]##*/}" || ! kill -0 "$job" 2>/dev/null; then
		echo "the server is not listening" >"$work/client"
		pair_status=1
	else
		on_b chrt -i 0 "$@" >"$work/client" 2>&1 || pair_status=$?
	fi
	((pair_status == 0)) || on_a pkill -f "^${server[0]}" || true
	wait "$job" || pair_server_status=$?
	pair_output=$(cat "$work/client") pair_server_output=$(cat "$work/server")
	pair_report=$(printf 'client: status %s of: %s\n%s\nserver: status %s of: %s\n%s\n' \
		"$pair_status" "$*" "$pair_output" "$pair_server_status" "${server[*]}" "$pair_server_output")
	rm -r "$work"
	((pair_status == 0 && pair_server_status == 0)) && ! finds_wrong_data "$pair_report"
}

# With -c, the ping-pong programs only print what is wrong with the data, and succeed.
finds_wrong_data() { [[ $1 == *"invalid data in page"* ]]; } # OUTPUT

listens_or_ended() { ! kill -0 "$1" 2>/dev/null || on_a listens "$2"; } # PID PROGRAM

port_listens() { ss -Hltn "sport = :$1" | grep .; } # PORT

# Whether a process of that name listens for TCP or rdma_cm connections. A cm_id is in state LISTEN a
# little before it listens. Then its process sleeps until an event comes.
listens() # PROGRAM
{
	local name=${1:0:15} pid
	# Not grep -q, which may exit early and break the writer's pipe.
	ss -Hltnp | grep -F "(\"$name\"," && return
	pid=$(rdma resource show cm_id | sed -nE "/state LISTEN/s/.* pid ([0-9]+) comm $name( .*)?\$/\1/p")
	[[ $pid ]] && grep '^State:.S' "/proc/${pid%%$'\n'*}/status"
}

# duet NAME PROGRAM OPTION...: run a program of tests/vm/programs at both ends, with --server and
# --client. Each check in the client's TAP becomes a check of this case.
duet()
{
	local name=$1 program=$programs/$2 complaint=''
	shift 2
	talk "$program" --server --dev "$A_DEV" --gid "${DUET_GID_A:-$A_GID}" -- \
		"$program" --client "$A_IP" --dev "$B_DEV" --gid "${DUET_GID_B:-$B_GID}" "$@" || complaint=$(tail -n 20 <<<"$pair_report")
	relay "$name" "$complaint" <<<"$pair_output"
}

# Print what rc_verify must skip (--skip) because an end is rdma_rxe: as the initiator it never leaves
# SQD, and as the target it reports SEND_WITH_INV with wrong flags.
rxe_lacks()
{
	local texts=()
	[[ $A_TYPE != rxe ]] || texts+=(server:SQD client:SEND_WITH_INV)
	[[ $B_TYPE != rxe ]] || texts+=(client:SQD server:SEND_WITH_INV)
	(IFS=,; echo "${texts[*]}")
}

# tap_pair NAME SERVER... -- CLIENT...: like pair, for programs that print TAP. Each check of either
# becomes a check of this case.
tap_pair()
{
	local name=$1 complaint=''
	shift
	talk "$@" || complaint=$(tail -n 20 <<<"$pair_report")
	relay "$name, server" "$complaint" <<<"$pair_server_output"
	relay "$name" "$complaint" <<<"$pair_output"
}

# tap NAME COMMAND...: run a program that prints TAP. Each of its checks becomes a check of this case.
tap()
{
	local name=$1 output status=0
	shift
	output=$("$@" 2>&1) || status=$?
	relay "$name" "$( ((status == 0)) || echo "status $status of: $*")" <<<"$output"
}

# relay NAME [COMPLAINT]: turn the checks of a program's TAP on stdin into checks of this case. The
# program has died, which is a failed check, if its plan "1..N" is missing or wrong, or if there is a
# complaint and no check of its own has failed.
relay()
{
	local line checks=0 plan=missing failed=''
	while IFS= read -r line; do
		case $line in
		"ok "*) checks=$((checks + 1)); echo "ok $((++tests_run)) - $1: ${line#ok * - }" ;;
		"not ok "*) checks=$((checks + 1)) failed=yes; echo "not ok $((++tests_run)) - $1: ${line#not ok * - }" ;;
		"Bail out!"*) failed=yes; not_ok "$1: $line" ;;
		1..*) plan=${line#1..} ;;
		*) echo "#   ${line#\# }" ;;
		esac
	done
	[[ $plan == "$checks" && (! ${2:-} || $failed) ]] ||
		not_ok "$1: runs to its end" "$checks checks, the plan is $plan${2:+$'\n'$2}"
}

# netem OPTION...: impair the packets that either end sends; without options, stop
netem()
{
	local end interface
	for end in a b; do
		interface=$A_IF
		[[ $end == a ]] || interface=$B_IF
		if (($#)); then
			"on_$end" tc qdisc replace dev "$interface" root netem "$@"
		else
			"on_$end" tc qdisc delete dev "$interface" root
		fi
	done
}

# --- the kernel's log -----------------------------------------------------------------------------

# Log lines at A from RDMA code, ours or the kernel's, or caused by it. Other lines do not matter:
# on a slow machine timers complain, and ib_mad reports malformed MADs that it receives.
rdma_log()
{
	on_a dmesg | grep -v 'MAD received with unsupported base version' | grep -Ei \
		'sroce|infiniband|rdma|uverbs|user_mad|iwpm|ib_|unregister_netdevice|gso|csum|segfault|out of memory|alloc' || true
}

# logs_nothing_since LOG: rdma_log still prints LOG; if not, print the new lines
logs_nothing_since()
{
	local now
	now=$(rdma_log)
	[[ $now != "$1" ]] || return 0
	echo "${now#"$1"}"
	return 1
}

# --- counters -------------------------------------------------------------------------------------

counter() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"; } # DEVICE NAME

# counter_at a|b NAME. ib_core shows counters in the initial namespace only.
counter_at()
{
	local device=$A_DEV
	[[ $1 == a ]] || device=$B_DEV
	if [[ $GUESTS == 2 ]]; then
		"on_$1" counter "$device" "$2"
	else
		counter "$device" "$2"
	fi
}

# expect_counter a|b NAME TEST VALUE, for example: expect_counter b rcvd_seq_err -gt 0
expect_counter()
{
	local value device=$A_DEV
	[[ $1 == a ]] || device=$B_DEV
	value=$(counter_at "$1" "$2")
	# shellcheck disable=SC1073,SC1072,SC1009
	if test "$value" "$3" "$4"; then
		ok "$device: $2 is $value ($3 $4)"
	else
		not_ok "$device: $2 is $value, not $3 $4"
	fi
}
