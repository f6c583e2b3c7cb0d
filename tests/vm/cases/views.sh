# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Commands of the tool that print tables, hints or help do so on terminals of 80 and 120 columns. No
# line is wider, so that the terminal cuts no word, except commands to copy. Columns are aligned.
# guests: one
# links: sroce
# seconds: 120
# full: none
set -euo pipefail
. /share/vm/lib.sh
topology

sroce=$programs/sroce
modprobe rdma_ucm
[[ -e /dev/pts/ptmx ]] || { mkdir -p /dev/pts && mount -t devpts none /dev/pts; }
on_a "$sroce" set "$A_DEV" cc dcqcn
on_b "$sroce" set "$B_DEV" cc delay
on_b ibv_rc_pingpong -e -d "$B_DEV" -g "$B_GID" -n 10000000 >/dev/null 2>&1 &
on_b wait_until 10 listens ibv_rc_pingpong
on_a ibv_rc_pingpong -e -d "$A_DEV" -g "$A_GID" -n 10000000 "$B_IP" >/dev/null 2>&1 &
is_connected() { on_a "$sroce" qp "$A_DEV" | grep -q '^RTS *RC '; }
check "a queue pair is connected" wait_until 10 is_connected

# view SECONDS COLUMNS WORD...: what the command leaves on a terminal of tmux, and in its history, when
# it ends or the time limit interrupts it. Its status is the command's.
cat >/tmp/view <<'END'
#!/bin/bash
timeout --foreground --preserve-status -s INT "$@"
echo $? >/tmp/view.status
tmux wait-for -S ended
sleep infinity   # until its terminal has been captured
END
chmod +x /tmp/view
view()
{
	local socket=view-$SRANDOM status=0   # the server before may still be about to end
	on_a tmux -L "$socket" -f /dev/null -u new-session -d -x "$2" -y 50 /tmp/view "$1" "${@:3}"
	timeout $((30 * TIME_FACTOR)) tmux -L "$socket" wait-for ended || status=99
	tmux -L "$socket" capture-pane -p -J -S -   # joins lines that the terminal has broken
	tmux -L "$socket" kill-server
	((status)) || status=$(</tmp/view.status)
	return "$status"
}

# No line is too wide, but for hints, and the lines that doctor indents. Each row of a table has two
# spaces before each column that it reaches, and text at its beginning. A line that begins with a
# space is the rest of a row that was folded.
is_tidy() # COLUMNS FILE WORD STATUS WANTED
{
	if (($4 != $5)) || ! grep -qF -- "$3" "$2"; then
		echo "status $4, wanted $5 and '$3':"
		cat "$2"
		return 1
	fi
	awk -v most="$1" '
		length > most && !/^  hint: |^        [^ ]/ { print "too wide: " $0; bad = 1 }
		!NF { count = 0 }
		/^[A-Z][A-Z ]*  [A-Z]/ && /^[A-Z :]*$/ {
			count = 0
			for (i = 3; i <= length; i++)
				if (substr($0, i - 2, 2) == "  " && substr($0, i, 1) != " ") column[++count] = i
			next
		}
		count && !/^ / {
			for (i = 1; i <= count; i++)
				if (length >= column[i] && (substr($0, column[i] - 2, 2) != "  " || substr($0, column[i], 1) == " ")) {
					print "column " i + 1 " is not aligned: " $0
					bad = 1
				}
		}
		END { exit bad }' "$2" || { cat "$2"; return 1; }
}

widths=(80 120)
looks_good() # SECONDS STATUS TEXT WORD...: the text must appear
{
	local columns status
	for columns in "${widths[@]}"; do
		status=0
		view "$1" "$columns" "$sroce" "${@:4}" >/tmp/seen || status=$?
		check "sroce ${*:4}, $columns columns" is_tidy "$columns" /tmp/seen "$3" "$status" "$2"
	done
}

looks_good 10 0 RTS qp
looks_good 1 0 RTS qp -w 0.3
looks_good 1 0 "$A_DEV" stats -w 0.3
looks_good 1 0 "$A_DEV" stats -a -w 0.3
on_a pkill ibv_rc_pingpong
looks_good 10 0 "$A_DEV"
looks_good 10 0 "$A_DEV" status --all
looks_good 10 0 "$A_IP" gids
looks_good 10 0 dcqcn show "$A_DEV"
looks_good 10 0 "$A_DEV" stats -a
looks_good 10 0 sent_pkts stats -x
looks_good 10 0 "$A_DEV" stats -x "$A_DEV"
looks_good 10 0 "ok    $A_DEV" doctor
looks_good 10 0 "ok    peer" doctor "$B_IP"
looks_good 10 0 "2 responses" ping -c 2 "$B_IP"
looks_good 10 1 "100% lost" ping -c 1 -W 0.2 "${A_IP%.*}.77"
looks_good 10 1 "hint: " ping -c 1 192.0.2.1
looks_good 10 8 "already has the device" add "$A_IF" other
looks_good 10 13 nonsense set "$A_DEV" cc nonsense
looks_good 10 13 no_such_parameter set "$A_DEV" no_such_parameter 1
looks_good 10 6 "no RDMA device" status no_such_device
on_a ip link set "$A_IF" down
looks_good 10 2 "fail  $A_DEV" doctor "$A_IF"
on_a ip link set "$A_IF" up
on_a ip link set "$A_IF" mtu 576
on_a nft -f - <<<"table inet t { chain in { type filter hook input priority 0; udp dport 4791 drop; }; }"
looks_good 10 1 "drops incoming RoCE packets" ping -c 1 -W 0.2 "$B_IP"
on_a nft -f - <<<"table ip n { chain post { type nat hook postrouting priority 0; ip protocol udp masquerade to :5000-6000; }; }"
looks_good 10 2 "'inet t in' drops" doctor
on_a nft delete table inet t
looks_good 10 1 "hint: nft insert rule ip n post" ping -c 1 -W 0.2 "$B_IP"
on_a nft delete table ip n
on_a ip link set "$A_IF" mtu 4200
looks_good 10 0 "do not arrive at $B_IP" ping -c 1 "$B_IP"
on_a ip link set "$A_IF" mtu 1500
view 10 80 "$sroce" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\) .*/\1/p' >/tmp/commands
looks_good 10 0 "$A_DEV: cc dcqcn" set "$A_DEV" cc dcqcn
looks_good 10 0 "module " -V
looks_good 10 0 Subcommands help
looks_good 10 0 Usage help add
# Commands that change something do it once for each terminal.
on_a ip link add view0 type dummy
on_a ip address add 10.77.0.1/24 dev view0
on_a ip link set view0 up
for columns in "${widths[@]}"; do
	printf '[device]\ninterface = view0\nname = view\nparam.cc = delay\n' >/tmp/view.conf
	widths=("$columns")
	looks_good 10 0 "try:" add view0 view
	looks_good 10 0 view del view
	looks_good 10 0 "view: cc delay" up /tmp/view.conf
	looks_good 10 0 view down /tmp/view.conf
	: >/tmp/view.conf
	looks_good 10 0 "no [device]" up /tmp/view.conf
done
widths=(80 120)
check "commands are found" grep -qx doctor /tmp/commands
while read -r command; do
	looks_good 10 0 Usage "$command" --help </dev/null
done </tmp/commands
looks_good 10 0 Subcommands --help
on_b rdma link delete "$B_DEV"
looks_good 10 1 "port unreachable" ping -c 1 -W 0.2 "$B_IP"
on_a rdma link delete "$A_DEV"
looks_good 10 2 "has no sroce device" doctor
looks_good 10 0 "no sroce devices" status
looks_good 10 0 "" qp
looks_good 10 0 "" gids
looks_good 10 0 "" stats
