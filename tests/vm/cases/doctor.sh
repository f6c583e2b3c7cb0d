# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# "sroce doctor" names what is broken, and the command that it prints mends it.
# guests: one
# links: sroce
# seconds: 90
# stages: vm-newest
# full: vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology none

sroce=$programs/sroce
mkdir -p "$keep"
PATH=$programs:$PATH   # for the commands that the doctor prints
export sroce keep PATH

# mended STATUS TEXT DOCTOR...: the doctor's exit status is STATUS, and a line that is not ok has TEXT.
# After the first command below that line, no line has it.
mended()
{
	local wanted=$1 text=$2 status=0 cure
	shift 2
	"$@" >"$keep/before" || status=$?
	cure=$(awk -v text="$text" 'found && /^        / { sub(/^ */, ""); print; exit }
		/^(warn|fail) / && index($0, text) { found = 1 }' "$keep/before" | sed 's/^to [a-z ]*: //')
	[[ $status == "$wanted" && $cure ]] || { echo "status $status"; cat "$keep/before"; return 1; }
	echo "$cure"
	bash -c "${cure/ADDRESS\/LENGTH/10.4.0.1/24}" || return
	[[ $wanted == 1 ]] || wait_until 5 gone "$text" "$@"
	"$@" >"$keep/after" || true
	! grep -F "$text" "$keep/after"
}
gone() { local text=$1; shift; ! { "$@" || true; } | grep -qF "$text"; }
export -f mended gone wait_until gid_index gid_of

! grep -q ^rdma_ucm /proc/modules || rmmod rdma_ucm
check "rdma_ucm is not loaded" on_a mended 2 "rdma_ucm is not loaded" "$sroce" doctor
check "an interface without a device" on_a mended 2 "has no device of sroce" "$sroce" doctor eth_a
says "all is well" 0 "^ok +sroce0 +on eth_a, active, GID [0-9]+ " on_a "$sroce" doctor
says "programs use librxe" 0 "^ok +sroce0 +in this environment programs use librxe, in rxe mode$" on_a env -u IBV_DRIVERS "$sroce" doctor
says "or our provider" 0 "^ok +sroce0 +in this environment programs use libsroce, in native mode$" on_a env IBV_DRIVERS="$programs/libsroce" "$sroce" doctor
says "all is well, as JSON" 0 '"verdict": "ok"' on_a "$sroce" doctor -j
says "another interface has no device" 2 "'lo' has no device of sroce" on_a "$sroce" doctor lo
says "there is no such interface" 5 "eth_b" on_a "$sroce" doctor eth_b

on_a ip link set eth_a down
check "the interface is down" on_a mended 2 "is down" "$sroce" doctor eth_a
on_a ip link set eth_a mtu 576
check "the MTU is small" on_a mended 1 "MTU is 256" "$sroce" doctor eth_a
on_a sysctl -qw net.ipv6.conf.eth_a.disable_ipv6=1
on_a ip address flush dev eth_a
check "there is no address" on_a mended 2 "no IP address" "$sroce" doctor eth_a

chmod 600 /dev/infiniband/uverbs0
nobody() { on_a as_nobody "$sroce" doctor eth_a; }
says "a user may not open the device" 2 "cannot open /dev/infiniband/uverbs0" nobody
check "chmod mends it" on_a mended 2 "cannot open" setpriv --reuid 65534 --clear-groups "$sroce" doctor eth_a
little_memory()
{
	ulimit -l 1024
	setpriv --reuid 65534 --clear-groups "$sroce" doctor eth_a | grep "^warn  memlock .*1 MiB"
}
export -f little_memory
check "a user may lock little memory" on_a bash -c little_memory
little_memory_for_root()
{
	ulimit -l 1024
	"$sroce" doctor eth_a | grep "^ok    memlock .*without limit" || return
	[[ ! -e /proc/self/ns/user ]] || unshare --user --map-root-user "$sroce" doctor eth_a | grep "^warn  memlock .*1 MiB"
}
export -f little_memory_for_root
check "so may root of a user namespace" on_a bash -c little_memory_for_root

# --- firewalls and NAT ------------------------------------------------------------------------------
# The guests have neither nftables nor iptables: these stand for them, and forget the rules that the
# commands change.

mkdir -p "$keep/bin"
for command in nft iptables-legacy; do
	cat >"$keep/bin/$command" <<-EOF
		#!/bin/bash
		case "\$*" in
		"-j list ruleset") cat "$keep/nft.rules" ;;
		"delete rule inet t in handle 7" | "insert rule inet t in udp dport 4791 accept" | \\
			"insert rule ip nat out udp dport 4791 accept") rm "$keep/nft.rules" ;;
		"-D INPUT -p udp --dport 4791 -j DROP") rm "$keep/iptables.rules" ;;
		*) exit 1 ;;
		esac
	EOF
done
cat >"$keep/bin/iptables-legacy-save" <<EOF
#!/bin/bash
cat "$keep/iptables.rules"
EOF
chmod +x "$keep"/bin/*
PATH=$keep/bin:$PATH
on_a ip address add 10.4.1.1/24 dev eth_a
on_a wait_until 10 gid_index sroce0 10.4.1.1

rules() { echo "{\"nftables\": [$1]}" >"$keep/nft.rules"; }
rules '{"rule": {"family": "inet", "table": "t", "chain": "in", "handle": 7, "expr": [{"match": {"op": "==", "left":
	{"payload": {"protocol": "udp", "field": "dport"}}, "right": 4791}}, {"drop": null}]}}'
check "a rule of nftables drops" on_a mended 2 "a rule of 'inet t in' drops" "$sroce" doctor
rules '{"chain": {"family": "inet", "table": "t", "name": "in", "type": "filter", "hook": "input", "policy": "drop"}}'
check "a policy of nftables drops" on_a mended 1 "'inet t in' drops what no rule accepts" "$sroce" doctor
rules '{"rule": {"family": "ip", "table": "nat", "chain": "out", "expr": [{"masquerade": null}]}}'
check "a NAT changes addresses" on_a mended 1 "'ip nat out' may change" "$sroce" doctor
printf '*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -p udp --dport 4791 -j DROP\nCOMMIT\n' >"$keep/iptables.rules"
check "a rule of iptables drops" on_a mended 2 "a rule of 'iptables-legacy INPUT' drops" "$sroce" doctor

# --- a host, and what only packages mend ------------------------------------------------------------

says "a host with an RDMA device" 0 "^ok +peer +10.4.0.1 responds in [0-9.]+ ms$" on_a "$sroce" doctor 10.4.0.1
on_b ip address add 10.4.0.2/24 dev eth_b
says "a host without" 2 "^fail +peer +port unreachable \(ICMP\)" on_a "$sroce" doctor 10.4.0.2
says "a host without a route" 2 "^fail +peer +there is no route to 203.0.113.1$" on_a "$sroce" doctor 203.0.113.1
mv /etc/libibverbs.d/rxe.driver "$keep"
says "no provider" 2 "^fail +sroce0 +libibverbs has no provider for it, such as librxe$" on_a "$sroce" doctor
mv "$keep/rxe.driver" /etc/libibverbs.d
on_a "$sroce" del sroce0

modprobe rdma_rxe
ip link add wire0 type veth peer name wire1
address_add wire0 10.5.0.1 fd05::1
link_add rxe_0 rxe wire0
check "rdma_rxe has the port" mended 2 "has taken UDP port 4791" "$sroce" doctor
rmmod rdma_rxe
