# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Collects what every command of the tool prints with -j. json.host compares it with
# Documentation/schema/.
# guests: one
# links: sroce
# seconds: 60
# stages: vm-newest
# full: vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology

sroce=$programs/sroce
mkdir -p "$keep"
modprobe rdma_ucm
on_a "$sroce" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p' >"$keep/commands"
while read -r command; do
	! on_a "$sroce" "$command" --help | grep -q -- --json || echo "$command"
done <"$keep/commands" >"$keep/commands_with_json"
check "commands with -j are found" grep -qx status "$keep/commands_with_json"

# prints SCHEMA STATUS COMMAND...: keep the output, which must have the form that SCHEMA.json says
samples=0
prints()
{
	local status=0 file
	file=$keep/$((++samples)).$1.json
	on_a "$sroce" "${@:3}" -j >"$file" || status=$?
	check "${*:3} -j: status $2" test "$status" = "$2"
}

# repeats SCHEMA COMMAND...: three lines or more of the command with -w
repeats()
{
	local file job status=0
	file=$keep/$((++samples)).$1.json
	on_a "$sroce" "${@:2}" -w 0.1 -j >"$file" &
	job=$!
	has_three() { (($(wc -l <"$file") >= 3)); }
	check "${*:2} -w -j prints three lines" wait_until 20 has_three
	pkill -INT -x sroce
	wait $job || status=$?
	check "... until SIGINT" test $status = 0
}

link_rxe()
{
	ip link add wire0 type veth peer name wire1
	address_add wire0 10.5.0.1 fd05::1
	address_add wire1 10.5.0.2 fd05::2
	modprobe rdma_rxe
	link_add rxe_0 rxe wire0
}

# --- without queue pairs and without a response -----------------------------------------------------

prints status 0 status
prints show 0 show "$A_DEV"
prints gids 0 gids
prints qp 0 qp
prints stats 0 stats "$A_DEV"
prints stats-x 0 stats -x
prints ping 1 ping -c 1 -W 0.2 "${A_IP%.*}.77"
prints ping 1 ping -c 1 192.0.2.1
"$sroce" show "$A_DEV" | awk '/^[a-z_]+ / { print $1 }' >"$keep/parameters"

# --- with them --------------------------------------------------------------------------------------

# The algorithms have values of their own.
on_a "$sroce" set "$A_DEV" cc dcqcn
on_b "$sroce" set "$B_DEV" cc delay
on_b ibv_rc_pingpong -e -d "$B_DEV" -g "$B_GID" -n 10000000 >/dev/null 2>&1 &
server=$!
on_b wait_until 10 listens ibv_rc_pingpong
on_a ibv_rc_pingpong -e -d "$A_DEV" -g "$A_GID" -n 10000000 "$B_IP" >/dev/null 2>&1 &
client=$!
is_connected() { on_a "$sroce" qp "$A_DEV" | grep -q '^RTS *RC '; }
check "a queue pair is connected" wait_until 10 is_connected
prints qp 0 qp
repeats qp-w qp
repeats stats-w stats
on_a pkill ibv_rc_pingpong || true
on_b pkill ibv_rc_pingpong || true
wait $server $client || true

check "rdma_rxe has a device in the first namespace" link_rxe
prints status 0 status --all
check "... which it shows" grep -q '"driver": "rdma_rxe"' "$keep/$samples.status.json"
rdma link delete rxe_0
prints stats 0 stats -a
prints stats 0 stats -x "$A_DEV"
has_addresses() { [[ ! $(on_a ip -6 address show dev "$A_IF" tentative) ]]; }
check "duplicate address detection has ended" wait_until 20 has_addresses
prints doctor 0 doctor
prints doctor 0 doctor "$A_IF"
prints doctor 0 doctor "$B_IP"
on_a ip link set "$A_IF" down
prints doctor 2 doctor "$A_IF"
on_a ip link set "$A_IF" up
on_a wait_for_gid "$A_DEV" "$A_IP"
prints ping 0 ping -c 2 "$B_IP"
