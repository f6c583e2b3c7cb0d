# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Functions for cases of the kernel's own users of RDMA (ULPs) between two guests. A server is at A,
# a client at B. A case defines and exports these functions, then calls ulp_checks:
#
#   serve, stop_serving    at A: load modules, configure a server; undo both
#   connect, disconnect    at B: the same for the client
#   transfer               in the case: move data both ways and compare every byte, see to_server
#   traffic                at B: move data until stop_asked, or until that fails
#   resume                 at A, optional: serve with A's new device what the old one served
#   lose_server            in the case, optional: A's device stays away for longer
#   survives=yes           $survives: traffic goes on once A has a device again
#   declines=yes           $declines: a server with a stale link may decline RDMA once
#   version=_v1            $version: the devices have GIDs of RoCE v1
#
# B has the functions only, not the variables of the case.

# --- data -----------------------------------------------------------------------------------------

strict() { set -e; "$@"; }   # ends at the first command that fails

fill() { head -c "$2" /dev/urandom >"$1"; } # FILE BYTES
digest() { sha256sum <"$1"; } # FILE

# to_server PUT: B runs the command, which writes, and prints a digest. $file at A must have it.
to_server()
{
	local client server
	# shellcheck disable=SC2086
	client=$(on_b strict $1) && server=$(on_a digest "$file") || return
	[[ $client == "$server" ]] || { echo "A's bytes differ after: $1"; return 1; }
}

# to_client GET: A renews $file, and B runs the command, which reads, and prints a digest.
to_client()
{
	local client server
	# shellcheck disable=SC2086
	server=$(on_a renew "$file") && client=$(on_b strict $1) || return
	[[ $client == "$server" ]] || { echo "B's bytes differ after: $1"; return 1; }
}

renew() { fill "$1" 1048576 && digest "$1"; } # FILE

# --- traffic --------------------------------------------------------------------------------------

stop_asked() { [[ -e /tmp/stop ]]; }
rounds() { cat /tmp/rounds 2>/dev/null || echo 0; }
# A function traffic calls this after each of its rounds.
count_round() { echo $(($(rounds) + 1)) >/tmp/rounds; }
more_rounds() { (($(rounds) > $1)); } # COUNT

run_traffic()
{
	local status
	rm -f /tmp/stop
	(strict traffic)
	status=$?
	rm -f /tmp/rounds
	return $status
}

received() { counter "$1" rcvd_pkts; } # DEVICE

# over_rdma NAME PACKETS COMMAND...: the command must succeed, and so many packets reach B's device,
# which has received $seen before
over_rdma()
{
	local name=$1 packets=$2 now
	shift 2
	check "$name" "$@"
	now=$(on_b received "$B_DEV")
	check "$name: $((now - seen)) packets reach B, at least $packets" test $((now - seen)) -ge "$packets"
	seen=$now
}

losses() { tc -s qdisc show dev "$1" | sed -n 's/.*dropped \([0-9]*\).*/\1/p' | head -n 1; } # INTERFACE
has_lost() { (($(losses "$1"))); }

# The server of guest/ulp_socket
start_echo() # smc|rds
{
	setsid /share/vm/guest/ulp_socket "$1" serve "$A_IP" >/tmp/echo 2>&1 </dev/null &
	echo $! >/tmp/echo.pid
	sleep 1
	kill -0 $!
}

stop_echo()
{
	kill "$(</tmp/echo.pid)"
	rm /tmp/echo.pid
}

# --- devices --------------------------------------------------------------------------------------

device_gone() { ! rdma link show | grep -q "^link $1/"; } # DEVICE
detach() { limited 20 rdma link delete "$1" && device_gone "$1"; } # DEVICE
unload() { limited 20 rmmod "$1" && device_gone "$2"; } # MODULE DEVICE

ended() { ! kill -0 "$1" 2>/dev/null; } # PID

# limited SECONDS COMMAND...: fails after this time, even if no signal ends the command. "timeout" would wait for it.
limited()
{
	local limit=$1 output job status=0
	shift
	output=$(mktemp)
	"$@" >"$output" 2>&1 </dev/null &
	job=$!
	if wait_until "$limit" ended $job; then
		wait $job || status=$?
	else
		status=124
		kill -KILL $job || true
	fi
	cat "$output"
	rm "$output"
	return $status
}

attach() # DEVICE TYPE INTERFACE ADDRESS
{
	load_module "${2%_v1}"
	link_add "$1" "$2" "$3"
	wait_for_gid "$1" "$4"
}

# Objects without the CQs of ib_core's pool, which stay with the device when nobody uses them.
used_objects()
{
	objects | sed 's/ cq [0-9]*//'
	rdma resource show cq | grep -vc 'users 0 '
}

remember_ends() { start_a=$(on_a used_objects) start_b=$(on_b used_objects); }
ends_settled() { [[ $(on_a used_objects) == "$start_a" && $(on_b used_objects) == "$start_b" ]]; }

settle()
{
	wait_until 20 ends_settled && return
	on_a rdma resource show
	on_b rdma resource show
	return 1
}

# end_modules MODULE...: unload them, the users first; some are freed a little later
end_modules()
{
	local module
	for module; do
		[[ ! -d /sys/module/${module//-/_} ]] || wait_until 10 rmmod "$module" || { rmmod "$module"; return 1; }
	done
}

export -f strict fill digest renew stop_asked rounds count_round more_rounds run_traffic received losses has_lost
export -f start_echo stop_echo used_objects device_gone detach unload ended limited attach end_modules

# --- the checks -----------------------------------------------------------------------------------

start_traffic() # WHEN
{
	LIMIT=120 on_b run_traffic >/tmp/traffic 2>&1 &
	traffic_job=$!
	check "traffic flows before $1" on_b wait_until 20 more_rounds 1
}

end_traffic()
{
	on_b touch /tmp/stop
	traffic_status=0
	wait "$traffic_job" || traffic_status=$?
}

traffic_ended_well() { ((traffic_status == 0)) || { cat /tmp/traffic; return 1; }; }

attach_server()
{
	check "A's device is attached again" on_a strict attach "$A_DEV" "$A_TYPE${version:-}" "$A_IF" "$A_IP"
	! declare -F resume >/dev/null || check "A resumes" on_a strict resume
}

# The server's device goes and comes back.
detach_server()
{
	local count
	start_traffic "A's device is detached"
	check "A's device is detached under traffic" on_a detach "$A_DEV"
	count=$(on_b rounds)
	attach_server
	if [[ ${survives:-} ]]; then
		check "traffic goes on" on_b wait_until 40 more_rounds $((count + 2))
		end_traffic
		check "traffic has seen no error" traffic_ended_well
	else
		end_traffic
		check "A serves again" on_a strict serve
	fi
}

# If $declines is set, a server that still has the old link may decline RDMA. Then the connection is
# one of TCP, and the next is not.
transfer_again()
{
	local tries=${declines:+3}
	transfer || return
	while ((--tries > 0 && $(on_b received "$B_DEV") - seen < packets)); do
		seen=$(on_b received "$B_DEV")
		transfer || return
	done
}

# The client's module goes and comes back.
unload_client()
{
	start_traffic "B's module is unloaded"
	check "B's module is unloaded under traffic" on_b unload "${B_TYPE/#rxe/rdma_rxe}" "$B_DEV"
	seen=0
	check "B's device is attached again" on_b strict attach "$B_DEV" "$B_TYPE${version:-}" "$B_IF" "$B_IP"
	end_traffic
	check "traffic has not hung" test "$traffic_status" != 124
	on_b strict disconnect || true
	check "B connects again" on_b strict connect
	over_rdma "data after B's module was loaded again" "$packets" transfer_again
}

# ulp_checks PACKETS: at least so many packets reach B in a transfer
ulp_checks()
{
	packets=$1 seen=$(on_b received "$B_DEV")
	check "A serves" on_a strict serve
	check "B connects" on_b strict connect
	over_rdma "data" "$packets" transfer
	netem loss 1%
	over_rdma "data at 1 % loss" "$packets" transfer
	check "packets were lost" on_b has_lost "$B_IF"
	check "B disconnects at 1 % loss" on_b strict disconnect
	check "B connects again at 1 % loss" on_b strict connect
	over_rdma "data of that connection" "$packets" transfer
	netem
	detach_server
	! declare -F lose_server >/dev/null || lose_server
	unload_client
	check "B disconnects" on_b strict disconnect
	check "A stops" on_a strict stop_serving
	check "no object is left at either end" settle
}
