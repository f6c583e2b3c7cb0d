# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The commands of the tool in README.md, as they are written there. tests/scripts/readme and
# tests/vm/command run its other ones.
# guests: one
# links: sroce
# seconds: 60
# full: none
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/page.sh
topology none
PATH=$programs:$PATH
mkdir -p "$keep"

ip -n a link set eth_a down
ip -n a link set eth_a name eth0
ip -n a link set eth0 up
on_b sroce add eth_b peer

# shellcheck disable=SC2317  # the page calls it
sroce() { if [[ $1 == ping ]]; then timeout --preserve-status -s INT 3 sroce "$@"; else command sroce "$@"; fi; }   # a user ends it by ^C
block() # PAGE NAME: in namespace a; HOST is the other end
{
	local text
	text=$(page_block "/share/repo/$1" "$2") || return
	export -f sroce
	on_a bash -e -x -c "${text//HOST/$B_IP}" | tee "$keep/output"
}
shows() { check "it shows $1" grep -qE -- "$2" "$keep/output"; } # WHAT PATTERN
check "README.md, use" block README.md use
shows "the GIDs of the new device" "^  GID [0-9]+  RoCE v2  $A_IP$"
shows "a command to try" "^try: "
shows "the device, its address and a queue pair" "^sroce0 +1 +RoCE v2 +eth0 +$A_IP$"
shows "a response" "^response from $B_IP: "
shows "that nothing is amiss" "^ok +sroce0 +on eth0, active"
check "no device of the page is left" test "$(rdma link show | grep -c sroce0)" = 0
