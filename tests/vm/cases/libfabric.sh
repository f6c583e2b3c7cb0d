# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# libfabric: its verbs provider's connections and datagrams, and messages of its own over connections, with the data checked.
# guests: any
# links: sroce
# seconds: 120
# stages: none
# full: vm-newest-native vm-newest vm-debug vm-debug-native vm-6.12 vm-6.12-two
set -euo pipefail
. /share/vm/lib.sh
topology

# A server without an address listens on the addresses of "localhost". Namespaces see files of their own in /etc.
name_host() # ADDRESS a|b
{
	local folder=/etc
	[[ $GUESTS == 2 ]] || folder=/etc/netns/$2
	mkdir -p "$folder" /tmp/libfabric
	[[ ! -e /etc/hosts ]] || cp -n /etc/hosts /tmp/libfabric/hosts
	touch /etc/hosts
	echo "$1 localhost" >"$folder/hosts"
}
unname_hosts()
{
	rm -rf /etc/netns/{a,b} /etc/hosts
	[[ ! -e /tmp/libfabric/hosts ]] || cp /tmp/libfabric/hosts /etc/hosts
	rm -rf /tmp/libfabric
}
export -f name_host unname_hosts
leave_case()
{
	on_a unname_hosts
	[[ $GUESTS != 2 ]] || on_b unname_hosts
}
on_a name_host "$A_IP" a
on_b name_host "$B_IP" b

pingpong() # DEVICE_SUFFIX OPTION...
{
	pair "fi_pingpong ${*:2}" fi_pingpong -c -I 5 -d "$A_DEV$1" "${@:2}" -- fi_pingpong -c -I 5 -d "$B_DEV$1" "${@:2}" "$A_IP"
}
pingpong "" -p verbs -e msg
pingpong "" -p "verbs;ofi_rxm" -e rdm -S 1000000
pingpong "" -p "verbs;ofi_rxm" -e rdm -S 4000 -m tagged
pingpong -dgram -p verbs -e dgram -S 1000
if [[ $MODE$GUESTS == native1 ]]; then
	export FI_VERBS_PREFER_XRC=1 FI_OFI_RXM_USE_SRX=1
	pingpong "-xrc" -p "verbs;ofi_rxm" -e rdm -S 100000 -m tagged
fi
