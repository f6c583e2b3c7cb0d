# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# "sroce ping": a stack responds without a server; without a response it names the cause.
# guests: one
# seconds: 90
# stages: vm-newest
# full: vm-newest-rxe vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology

sroce=$programs/sroce
mkdir -p "$keep/bin"
modprobe rdma_ucm
pinged() { on_a "$sroce" ping -c 1 -W 10 "$@"; }    # a response comes at once
no_mtu_fault() { local output; output=$(pinged "$@") && echo "$output" && ! grep "path MTU" <<<"$output"; }
wait=0.3
((TIME_FACTOR == 1)) || wait=$TIME_FACTOR
silent() { on_a "$sroce" ping -c 1 -W "$wait" "$@"; }   # none comes

# --- a response -------------------------------------------------------------------------------------

on_a ip neighbour flush all   # topology has asked them already
for address in "$B_IP" "$B_IP6"; do
	says "a response from $address" 0 "^response from $address: seq=1 time=[0-9.]+ ms$" pinged "$address"
done
says "the device and the addresses" 0 "^RoCE ping $B_IP from $A_IP \($A_DEV\)$" pinged -I "$A_DEV" "$B_IP"
says "the own address" 0 "^1 request, 1 response, 0% lost" pinged "$A_IP"
says "as a user without rights" 0 "^1 request, 1 response" on_a as_nobody "$sroce" ping -c 1 -W 10 "$B_IP"
says "JSON" 0 '"reject_reason": 8' pinged -j "$B_IP"

# Packets of the path MTU must arrive, too: rdma_cm takes it from the local interface.
on_a ip link set "$A_IF" mtu 4200
for address in "$B_IP" "$B_IP6"; do
	says "the MTU of the peer is small, $address" 0 \
		"^packets for the path MTU 4096 do not arrive at $address \(ICMP echo\), those for 1024 do; connections fail or stall$" pinged "$address"
done
says "... as JSON" 0 '"name": "path_mtu"' pinged -j "$B_IP"
on_b ip link set "$B_IF" mtu 2200
says "... another MTU" 0 "those for 2048 do; " pinged "$B_IP"
says "... and the command" 0 "^  hint: ip link set $A_IF mtu 2144$" pinged "$B_IP"
on_b sysctl -qw net.ipv4.icmp_echo_ignore_all=1
says "the peer returns no echo: nothing is known" 0 "^1 request, 1 response" no_mtu_fault "$B_IP"
on_b sysctl -qw net.ipv4.icmp_echo_ignore_all=0
on_a ip link set "$A_IF" mtu 2144
says "the command mends it" 0 "^1 request, 1 response" no_mtu_fault "$B_IP"
on_a ip link set "$A_IF" mtu 4200
on_b ip link set "$B_IF" mtu 4200
says "both MTUs are large" 0 "^1 request, 1 response" no_mtu_fault "$B_IP"
says "... with IPv6" 0 "^1 request, 1 response" no_mtu_fault "$B_IP6"
on_b ip route change 10.0.0.0/24 dev "$B_IF" mtu 1500
says "the way back fragments" 0 "those for 1024 do; " pinged "$B_IP"
on_b ip route change 10.0.0.0/24 dev "$B_IF"
on_a ip route change 10.0.0.0/24 dev "$A_IF" mtu 2200
says "the route has a smaller MTU" 0 "those for 2048 do; " pinged "$B_IP"
on_a ip route change 10.0.0.0/24 dev "$A_IF"
on_b ip link set "$B_IF" mtu 1500
on_a ip link add link "$A_IF" name lan.7 type vlan id 7
on_b ip link add link "$B_IF" name lan.7 type vlan id 7
on_a ip link set lan.7 up mtu 1400
on_b ip link set lan.7 up mtu 1400
on_a ip address add 10.0.7.1/24 dev lan.7
on_b ip address add 10.0.7.2/24 dev lan.7
on_a wait_until 10 gid_index "$A_DEV" 10.0.7.1
on_b wait_until 10 gid_index "$B_DEV" 10.0.7.2
says "a VLAN has its own MTU" 0 "^1 request, 1 response" no_mtu_fault 10.0.7.2
on_a ip link delete lan.7
on_b ip link delete lan.7
on_a ip link set "$A_IF" mtu 1500

on_a "$sroce" ping -W 10 "$B_IP" >"$keep/endless" &
ping=$!
has_two() { grep -q seq=2 "$keep/endless"; }
wait_until 20 has_two
pkill -INT -x sroce
status=0
wait $ping || status=$?
check "SIGINT ends it with success" test $status = 0
check "... and a summary" grep -qE "^[0-9]+ requests, [0-9]+ responses, 0% lost; time min" "$keep/endless"

# --- none: where it stops ---------------------------------------------------------------------------

says "no route" 1 "^there is no route to 203.0.113.1$" silent 203.0.113.1
says "no route, IPv6" 1 "^there is no route to 2001:db8::1$" silent 2001:db8::1
says "no neighbour" 1 "^the neighbour is not resolved: 10.0.0.77 does not answer ARP on '$A_IF'$" silent 10.0.0.77
says "no neighbour, IPv6" 1 "fd00::77 does not answer neighbour discovery on '$A_IF'$" silent fd00::77

# RoCE of IPv4 goes to a dummy interface as soon as it has arrived.
on_b ip link add nowhere type dummy
on_b tc qdisc add dev "$B_IF" clsact
on_b tc filter add dev "$B_IF" ingress protocol ip u32 match ip protocol 17 0xff match ip dport 4791 0xffff \
	action mirred egress redirect dev nowhere
says "dropped at the peer" 1 "^no response: a firewall on the way or at the peer drops UDP port 4791, or a NAT changes the packets$" silent "$B_IP"
says "... and not IPv6" 0 "^response from $B_IP6" pinged "$B_IP6"

cat >"$keep/bin/nft" <<'EOF'
#!/bin/sh
echo '{"nftables": [{"chain": {"family": "inet", "table": "t", "name": "in", "type": "filter", "hook": "input", "policy": "drop"}}]}'
EOF
chmod +x "$keep/bin/nft"
behind_firewall() { PATH=$keep/bin:$PATH silent "$@" "$B_IP"; }
says "a firewall at this end" 1 "^the policy of 'inet t in' of this host drops incoming RoCE packets \(UDP port 4791\)$" behind_firewall
cat >"$keep/bin/nft" <<'EOF'
#!/bin/sh
echo '{"nftables": [{"chain": {"family": "ip", "table": "t", "name": "c", "type": "nat", "hook": "postrouting"}},
	{"rule": {"family": "ip", "table": "t", "chain": "c", "expr": [{"snat": {"port": 5000}}]}}]}'
EOF
says "a NAT at this end" 1 "^'ip t c' of this host changes the source port of RoCE packets \(snat to :5000\); " behind_firewall
says "... as JSON" 1 '"name": "local_nat"' behind_firewall -j
on_b tc qdisc del dev "$B_IF" clsact
on_b ip link delete nowhere

changed() # NAME HOOK RULE CHAIN CHANGE: it is the cause, and the command mends it
{
	sleep 1.5   # until the kernel has forgotten the flow, which it would leave as it is
	on_a nft -f - <<<"table ip t { chain d { snat to 10.0.0.9; }; chain c { type nat hook $2 priority 0; $3; }; }"
	says "$1" 1 "^'ip t $4' of this host changes the $5; " silent "$B_IP"
	check "... and the command mends it" on_a mended_by_nft
	on_a nft delete table ip t
}
dropped() # NAME HOOK POLICY RULES PLACE: as above
{
	on_a nft -f - <<<"table ip t { chain c { type filter hook $2 priority 0; policy $3; $4 }; }"
	says "$1" 1 "^$5 'ip t c' of this host drops (incoming|outgoing) RoCE packets \(UDP port 4791\)$" silent "$B_IP"
	check "... and the command mends it" on_a mended_by_nft
	on_a nft delete table ip t
}
mended_by_nft()
{
	local cure
	cure=$("$sroce" ping -c 1 -W "$wait" "$B_IP" | sed -n 's/^  hint: \(nft .*\)/\1/p')
	[[ $cure ]] && bash -c "$cure" && wait_until 10 "$sroce" ping -c 1 -W 10 "$B_IP"
}
export -f mended_by_nft wait_until
export sroce wait

# Rules apply to the first packet of a flow that the kernel tracks.
modprobe nf_conntrack
on_a sysctl -qw net.netfilter.nf_conntrack_udp_timeout=1 net.netfilter.nf_conntrack_udp_timeout_stream=1
changed "NAT: an address" postrouting "oifname $A_IF snat to 10.0.0.9" c "source address of RoCE packets \(snat to 10.0.0.9\)"
changed "NAT: a source port" postrouting "meta l4proto udp snat to :5000" c "source port of RoCE packets \(snat to :5000\)"
changed "NAT: masquerading" postrouting "ip protocol udp masquerade to :5000" c "source port of RoCE packets \(masquerade to :5000\)"
changed "NAT: a jump" postrouting "ip daddr $B_IP jump d" d "source address of RoCE packets \(snat to 10.0.0.9\)"
changed "NAT: a destination" output "dnat to 10.0.0.77" c "destination address of RoCE packets \(dnat to 10.0.0.77\)"
changed "NAT: a destination port" output "udp dport 4791 dnat to :4000" c "destination port of RoCE packets \(dnat to :4000\)"
changed "NAT: a redirection" output "udp dport 4791 redirect to :4000" c "destination address of RoCE packets \(redirect to :4000\)"
changed "NAT: what arrives" prerouting "udp dport 4000-5000 dnat to :4000" c "destination port of RoCE packets \(dnat to :4000\)"
sleep 1.5
on_a nft -f - <<<"table ip t { chain c { type nat hook postrouting priority 0; masquerade; }; }"
says "NAT: masquerading that changes nothing" 0 "^1 request, 1 response" pinged "$B_IP"
on_a nft delete table ip t
dropped "a firewall: a policy" input drop "tcp dport 22 accept;" "the policy of"
dropped "a firewall: a rule" prerouting accept "iifname $A_IF udp dport 4000-5000 drop;" "a rule of"
dropped "a firewall: what leaves" output drop "" "the policy of"
dropped "a firewall: a rule for UDP that leaves" output accept "oifname $A_IF meta l4proto udp drop;" "a rule of"

# The neighbour is a router that sends what a firewall sends, too.
# Before Linux 7, a rate limit of 0 leaves no tokens for what the route itself limits.
on_b sysctl -qw net.ipv{4,6}.conf.all.forwarding=1 net.ipv4.icmp_ratemask=0 net.ipv6.icmp.ratelimit=0
for way in "10.9.9.9 $B_IP" "fd09::9 $B_IP6"; do
	on_b ip route add prohibit "${way% *}"
	on_a ip route add "${way% *}" via "${way#* }"
	says "prohibited, ${way% *}" 1 "^UDP port 4791 is prohibited \(ICMP\), usually by a firewall at the peer or on the way$" silent "${way% *}"
done

on_b rdma link delete "$B_DEV"
if [[ $B_TYPE == sroce ]]; then
	for address in "$B_IP" "$B_IP6"; do
		says "no device at the peer, $address" 1 "^port unreachable \(ICMP\): nothing listens on UDP port 4791, or a firewall rejects it$" silent "$address"
	done
fi
on_a rdma link delete "$A_DEV"
says "no device at this end" 1 "^interface '$A_IF', which leads to $B_IP, has no RDMA device$" silent "$B_IP"
says "no device with the own address" 1 "^no RDMA device of this host has the address $A_IP$" silent "$A_IP"
says "no such device" 6 "no RDMA device '$A_DEV'" silent -I "$A_DEV" "$B_IP"
rmmod rdma_ucm
says "rdma_ucm is not loaded" 3 "modprobe rdma_ucm" silent "$B_IP"
