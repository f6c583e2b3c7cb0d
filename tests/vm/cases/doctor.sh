# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# "sroce doctor" names what is broken, and the command that it prints mends it.
# guests: one
# links: sroce
# seconds: 150
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
	status=0
	"$@" >"$keep/after" || status=$?
	((status <= 2)) && [[ -s $keep/after ]] && ! grep -F "$text" "$keep/after"
}
gone() { local text=$1; shift; ! { "$@" || true; } | grep -qF "$text"; }
export -f mended gone wait_until gid_index gid_of

# --- the kernel and the module ------------------------------------------------------------------------

loaded=()
for holder in /sys/module/ib_core/holders/*; do
	[[ ${holder##*/} == sroce ]] || loaded+=("${holder##*/}")
done
leave_case()
{
	rm -rf "$modules/build" "$modules/config" "$modules/sroce.ko"
	depmod
	modprobe -a "${loaded[@]}"   # such as ib_umad, which other cases need
}

# The guests have no packages: these stand for what installs the headers and the module.
release=$(uname -r)
modules=/lib/modules/$release
mkdir -p "$keep/bin"
cat >"$keep/bin/apt-get" <<EOF
#!/bin/bash
[[ \$* == "install linux-headers-$release" ]] && mkdir -p "$modules/build" && touch "$modules/build/Makefile"
EOF
cat >"$keep/bin/make" <<EOF
#!/bin/bash
[[ \$* == install ]] && cp /share/module/sroce.ko "$modules" && depmod
EOF
chmod +x "$keep"/bin/*
PATH=$keep/bin:$PATH

# Unload ib_core, and before it all that needs it: a module that another needs stays until the next call.
unload_rdma()
{
	local holder
	for holder in /sys/module/ib_core/holders/*; do
		rmmod "${holder##*/}" 2>/dev/null || true
	done
	rmmod ib_core
}
wait_until 5 unload_rdma
check "no module is loaded" mended 2 "ib_uverbs is not loaded" "$sroce" doctor
check "there are no kernel headers" mended 2 "kernel headers are absent" "$sroce" doctor
check "the module is not installed" mended 2 "is not installed for kernel $release" "$sroce" doctor
check "... and then not loaded" mended 2 "sroce is not loaded" "$sroce" doctor
rmmod sroce
sed 's/version=[0-9]\./version=9./' /share/module/sroce.ko >"$keep/other.ko"
insmod "$keep/other.ko"
check "the loaded module is another version" mended 2 "the loaded module is version 9" "$sroce" doctor

[[ -e /sys/module/ib_uverbs ]] || modprobe ib_uverbs
! grep -q ^rdma_ucm /proc/modules || rmmod rdma_ucm
check "rdma_ucm is not loaded" on_a mended 2 "rdma_ucm is not loaded" "$sroce" doctor
check "an interface without a device" on_a mended 2 "has no sroce device" "$sroce" doctor eth_a
says "all is well" 0 "^ok +sroce0 +on eth_a, active, GID [0-9]+ " on_a "$sroce" doctor
says "programs use librxe" 0 "^ok +sroce0 +in this environment programs use librxe, in rxe mode$" on_a env -u IBV_DRIVERS "$sroce" doctor
says "or our provider" 0 "^ok +sroce0 +in this environment programs use libsroce, in native mode$" on_a env IBV_DRIVERS="$programs/libsroce" "$sroce" doctor
says "all is well, as JSON" 0 '"verdict": "ok"' on_a "$sroce" doctor -j
says "another interface has no device" 2 "'lo' has no sroce device" on_a "$sroce" doctor lo
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
chmod 600 /dev/infiniband/rdma_cm
check "nor the file of rdma_cm" on_a mended 1 "cannot open /dev/infiniband/rdma_cm" setpriv --reuid 65534 --clear-groups "$sroce" doctor eth_a
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
	! unshare --user true 2>/dev/null || unshare --user --map-root-user "$sroce" doctor eth_a | grep "^warn  memlock .*1 MiB"
}
export -f little_memory_for_root
check "so may root of a user namespace" on_a bash -c little_memory_for_root

cure_of_memlock()
{
	ulimit -S -l 1024
	"$sroce" doctor eth_a | sed -n '/^warn *memlock/ { n; s/^ *//p; q }'
}
enough_memory()
{
	local cure
	cure=$(cure_of_memlock)
	[[ $cure == ulimit* ]] || return
	ulimit -S -l 1024
	eval "$cure"
	"$sroce" doctor eth_a | grep "^ok    memlock "
}
export -f cure_of_memlock enough_memory
check "ulimit mends it" on_a setpriv --reuid 65534 --clear-groups bash -c enough_memory
limited_for_good()
{
	ulimit -l 1024
	"$sroce" doctor eth_a | grep "^        as root, before the next login: echo '\* - memlock unlimited' >"
}
export -f limited_for_good
check "... unless the hard limit is low, too" on_a setpriv --reuid 65534 --clear-groups bash -c limited_for_good

# --- addresses that others have, too ------------------------------------------------------------------

on_b ip address add fd07::7/64 dev eth_b nodad
on_a sysctl -qw net.ipv6.conf.eth_a.disable_ipv6=0
on_a ip address add fd07::7/64 dev eth_a
detection_ended()
{
	local list
	list=$(on_a ip -o address show dev eth_a)
	grep "fd07::7.*dadfailed" <<<"$list" && ! grep -v dadfailed <<<"$list" | grep tentative
}
check "another host has an address" wait_until 10 detection_ended
check "... which is said" on_a mended 1 "another host has its address fd07::7" "$sroce" doctor eth_a

on_a ip link add twin type dummy
on_a ip link set twin up
on_a ip address add 10.4.0.1/32 dev twin
on_a "$sroce" add twin other0 >/dev/null
other_address()
{
	local status=0 cure
	"$sroce" doctor eth_a >"$keep/before" || status=$?
	cure=$(sed -n '/rdma_cm may choose other0 instead/ { n; s/.*: //p }' "$keep/before")
	[[ $status == 1 && $cure ]] || { echo "status $status"; cat "$keep/before"; return 1; }
	echo "$cure"
	$cure >"$keep/dummy" || return
	"$sroce" doctor "$(sed -n '1s/.* on //p' "$keep/dummy" | cut -d, -f1)"
}
export -f other_address
says "another RDMA device has the address" 0 "^ok +sroce[0-9]+ +on rdma[0-9]+, active, GID [0-9]+ " on_a other_address
on_a "$sroce" del other0
on_a ip link delete twin
on_a ip link delete rdma0

# --- the stack, firewalls and NAT -------------------------------------------------------------------

on_a sysctl -qw net.ipv4.conf.eth_a.rp_filter=1
on_b ip address add 10.7.0.1/32 dev lo
on_b ip route replace 10.4.0.1/32 dev eth_b src 10.7.0.1
mac=$(on_a cat /sys/class/net/eth_a/address)   # the filter also stops ARP requests from there
on_b ip neighbour replace 10.4.0.1 lladdr "$mac" dev eth_b
on_b ping -c 1 -W 1 10.4.0.1 >/dev/null || true
check "strict reverse-path filtering" on_a mended 1 "rp_filter has dropped" "$sroce" doctor eth_a
on_b ip route delete 10.4.0.1/32
on_b ip neighbour delete 10.4.0.1 dev eth_b
on_b ip address delete 10.7.0.1/32 dev lo

on_a ip address add 10.4.1.1/24 dev eth_a
on_a wait_until 10 gid_index sroce0 10.4.1.1

nat() # HOOK RULE CHAIN: the doctor names the chain until its command has been run
{
	on_a nft -f - <<<"table ip t { chain d { snat to 10.4.0.9; }; chain c { type nat hook $1 priority 0; $2; }; }"
	check "a NAT: $2" on_a mended 1 "'ip t $3' " "$sroce" doctor
	on_a nft delete table ip t
}
nat postrouting "snat to 10.4.0.9" c
nat postrouting "oifname eth_a masquerade" c
nat postrouting "meta l4proto udp snat to :5000" c
nat postrouting "meta l4proto { tcp, udp } masquerade to :1024-2048" c
nat postrouting "ip saddr 10.4.0.0/16 jump d" d
nat output "dnat to 10.4.0.9" c
nat output "udp dport 4000-5000 dnat to :4000" c
nat output "meta l4proto udp redirect to :4000" c
nat prerouting "iifname eth_a udp dport 4791 dnat to :4000" c
on_a nft -f - <<<"table ip t { chain c { type nat hook postrouting priority 0; udp dport 4791 return; snat to 10.4.0.9; }; }"
says "a NAT that excepts RoCE" 0 "^ok +sroce0 +on eth_a, active" on_a "$sroce" doctor
on_a nft delete table ip t
for rules in "policy accept; udp dport 4791 drop" "policy drop; tcp dport 22 accept"; do
	on_a nft -f - <<<"table inet t { chain in { type filter hook input priority 0; $rules; }; }"
	check "a firewall: $rules" on_a mended 2 "of 'inet t in' drops" "$sroce" doctor
	on_a nft delete table inet t
done

# A NAT of the router b between a and c, which c finds by its traces only.
ip netns add c
on_c() { in_namespace c "$@"; }
on_b ip link add eth_r type veth peer name eth_c netns c
on_b ip link set eth_r up
on_b ip address add 10.6.0.1/24 dev eth_r
on_b ip address add 10.4.0.2/24 dev eth_b
on_b sysctl -qw net.ipv4.ip_forward=1
on_c ip link set eth_c up
on_c ip address add 10.6.0.2/24 dev eth_c
on_c ip route add default via 10.6.0.1
on_c "$sroce" add eth_c sroce_c >/dev/null
on_a ip route add 10.6.0.0/24 via 10.4.0.2
on_a wait_until 10 "$sroce" ping -c 1 10.6.0.2
says "a router is between the hosts" 0 "^ok +peer +10.6.0.2 responds" on_a "$sroce" doctor 10.6.0.2
says "... and its peer's doctor finds nothing" 0 "^ok +sroce_c +on eth_c, active" on_c "$sroce" doctor
on_b nft -f - <<<"table ip t { chain c { type nat hook postrouting priority 0; oifname eth_r masquerade; }; }"
on_b sysctl -qw net.netfilter.nf_conntrack_udp_timeout=1 net.netfilter.nf_conntrack_udp_timeout_stream=1
says "the router's NAT changes the packets" 2 "^fail +peer +no response: .*, or a NAT changes the packets$" on_a "$sroce" doctor 10.6.0.2
says "... which its peer's doctor says" 1 "^warn +sroce_c +[0-9]+ packets since it was added had a wrong ICRC: a NAT on the way has changed" on_c "$sroce" doctor
router_cure() { { on_c "$sroce" doctor || true; } | sed -n 's/^ *at a router with NAT: //p'; }
command=$(router_cure)
command=${command/TABLE/t}
check "the command for the router mends it: $command" on_b bash -c "${command/CHAIN/c}"
sleep 1.5   # until the router has forgotten the flow
says "... so that the host responds" 0 "^ok +peer +10.6.0.2 responds" on_a "$sroce" doctor 10.6.0.2
on_c "$sroce" del sroce_c
on_b nft delete table ip t
on_b ip address delete 10.4.0.2/24 dev eth_b
ip netns delete c

# No guest has iptables: these stand for both, and forget the rules that the commands change.

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

rules() { echo "{\"nftables\": [$1]}" >"$keep/nft.rules"; }
rules '{"chain": {"family": "inet", "table": "t", "name": "in", "type": "filter", "hook": "input", "policy": "accept"}},
	{"rule": {"family": "inet", "table": "t", "chain": "in", "handle": 7, "expr": [{"match": {"op": "==", "left":
	{"payload": {"protocol": "udp", "field": "dport"}}, "right": 4791}}, {"drop": null}]}}'
check "a rule of nftables drops" on_a mended 2 "a rule of 'inet t in' drops" "$sroce" doctor
rules '{"chain": {"family": "inet", "table": "t", "name": "in", "type": "filter", "hook": "input", "policy": "drop"}}'
check "a policy of nftables drops" on_a mended 2 "the policy of 'inet t in' drops" "$sroce" doctor
rules '{"chain": {"family": "ip", "table": "nat", "name": "out", "type": "nat", "hook": "postrouting"}},
	{"rule": {"family": "ip", "table": "nat", "chain": "out", "expr": [{"masquerade": null}]}}'
check "a NAT changes addresses" on_a mended 1 "'ip nat out' may change the source address" "$sroce" doctor
printf '*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -p udp --dport 4791 -j DROP\nCOMMIT\n' >"$keep/iptables.rules"
check "a rule of iptables drops" on_a mended 2 "a rule of 'iptables-legacy INPUT' drops" "$sroce" doctor

# --- a host, and what only packages mend ------------------------------------------------------------

says "a host with an RDMA device" 0 "^ok +peer +10.4.0.1 responds in [0-9.]+ ms$" on_a "$sroce" doctor 10.4.0.1
on_b ip address add 10.4.0.2/24 dev eth_b
on_b "$sroce" add eth_b sroce_b >/dev/null
on_a ip link set eth_a mtu 4200
says "a host with a smaller MTU" 1 "^warn +peer +packets for the path MTU 4096 do not arrive at 10.4.0.2 " on_a "$sroce" doctor 10.4.0.2
check "the command mends it" on_a mended 1 "do not arrive at 10.4.0.2" "$sroce" doctor 10.4.0.2
says "... so that all is well" 0 "^ok +peer +10.4.0.2 responds in [0-9.]+ ms$" on_a "$sroce" doctor 10.4.0.2
on_b "$sroce" del sroce_b
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
check "rdma_rxe has the port" mended 2 "has taken UDP port 4791 (devices: rxe_0)" "$sroce" doctor
if [[ ${KERNEL:-} == 6.* ]]; then
	check "... and keeps it" mended 2 "has taken UDP port 4791" "$sroce" doctor
else
	rmmod rdma_rxe
fi

# --- kernels that cannot have it ----------------------------------------------------------------------

wait_until 5 unload_rdma
mount -t tmpfs tmpfs "$modules/kernel"
says "a kernel without the modules of RDMA" 2 "^fail +kernel +RDMA is not loaded$" "$sroce" doctor
[[ ! -e /proc/config.gz ]] || mount --bind /dev/null /proc/config.gz
echo CONFIG_NET=y >"$modules/config"
says "a kernel without RDMA" 2 "^fail +kernel +kernel ${release//+/\\+} has no RDMA \(CONFIG_INFINIBAND is off\)$" "$sroce" doctor
rm "$modules/config"
umount "$modules/kernel"
[[ ! -e /proc/config.gz ]] || umount /proc/config.gz
