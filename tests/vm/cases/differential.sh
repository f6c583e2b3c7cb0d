# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The same scripts of packets and work requests on sroce and on rdma_rxe, each with a raw socket as
# its peer. Both must do the same, except for what differential.known lists.
# guests: one
# links: sroce
# seconds: 240
# full: none
set -euo pipefail
. /share/vm/lib.sh
topology none

# rdma_rxe of older kernels works in the first namespace only.
wire() # NAMESPACE|"": a veth pair; the peer is no host, but has an address of a neighbour
{
	local in=()
	[[ ! $1 ]] || in=(-n "$1")
	ip "${in[@]}" link add script_dev address 02:00:00:00:00:01 type veth peer name script_peer address 02:00:00:00:00:02
	ip "${in[@]}" link set script_peer up
	in_namespace "$1" address_add script_dev 10.6.0.1 fd06::1
	ip "${in[@]}" neighbour replace 10.6.0.2 lladdr 02:00:00:00:00:02 nud permanent dev script_dev
	# A GSO packet would reach the peer's socket as one.
	in_namespace "$1" ethtool -K script_dev tx-udp-segmentation off gro off >/dev/null
}
wire a
wire ''
load_module rxe
on_a link_add "$A_DEV" sroce script_dev
link_add rxe_0 rxe script_dev
gid=$(on_a wait_for_gid "$A_DEV" 10.6.0.1)
rxe_gid=$(wait_for_gid rxe_0 10.6.0.1)

# With SEED=N other random scripts, with ONLY=TEXT the transcripts of some scripts.
count=${COUNT:-300}
mkdir -p "$keep"
export LIMIT=200
complaint=''
in_namespace '' "$programs/packet_script" --dev "$A_DEV" --gid "$gid" --netns a --wire script_peer \
	--peer-dev rxe_0 --peer-gid "$rxe_gid" --peer-wire script_peer \
	--known "/share/vm/cases/$CASE.known" --kernel "$KERNEL" --random "$count" --seed "${SEED:-1}" \
	${ONLY:+--only "$ONLY" --print} >"$keep/output" 2>&1 || complaint="status $?"
relay scripts "$complaint" <"$keep/output"
[[ ${ONLY:-} ]] || expect_counter a drop_syndrome -ge 3
