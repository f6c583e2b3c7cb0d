# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Memory that another driver has exported as a DMA-BUF: data, wrong files and ranges, a process that
# is killed. Every reference, pin and mapping is given back.
# guests: one
# links: sroce
# seconds: 60
# stages: vm-newest vm-newest-rxe vm-newest-native vm-6.12
# full: vm-debug vm-debug-native vm-kcsan vm-6.1
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology
export LIMIT=90

rounds=200 kills=5
[[ ! $QUICK ]] || rounds=40 kills=2
insmod /share/module/exporter.ko
options=(--dev "$A_DEV" --gid "$A_GID" --peer-dev "$B_DEV" --peer-gid "$B_GID")
both_ends() { "$programs"/dmabuf_verify "${options[@]}" "$@"; }
state() { echo "$(</sys/module/exporter/parameters/state)"; }
nothing_is_left() { [[ $(state) == "buffers 0 attachments 0 pins 0 maps 0 accesses 0" ]]; }
everything_is_back() { wait_until 10 nothing_is_left || { state; return 1; }; }
is_listed() { rdma resource show mr | grep -c "mrlen 204808" | grep -x 2; }
# A shell in the background may empty the file only after it has been read.
move_forever()
{
	rm -f /tmp/forever
	"$programs"/dmabuf_verify "${options[@]}" --forever >/tmp/forever 2>&1 &
	process=$!
}
moves_data() { grep -q 'moving data' /tmp/forever; }

tap "dmabuf" both_ends --rounds $rounds
check "nothing is left" everything_is_back
netem delay 300us 200us limit 4000
tap "in flight" both_ends --rounds $rounds --in-flight
netem
check "nothing is left of packets in flight" everything_is_back
for ((i = 1; i <= kills; i++)); do
	move_forever
	check "data moves, $i" wait_until 20 moves_data
	check "both regions are listed, $i" is_listed
	[[ $(state) == "buffers 2 attachments 2 pins 2 maps 2 accesses 2" ]] || not_ok "the buffers are held, $i" "$(state)"
	kill -9 $process
	wait $process || true
	check "nothing is left of a killed process, $i" everything_is_back
done
# The device goes, while a process moves data.
move_forever
check "data moves" wait_until 20 moves_data
check "the device is deleted" rdma link delete "$B_DEV"
status=0
wait $process || status=$?
check "the process fails" test $status -eq 1
check "nothing is left of a deleted device" everything_is_back
# The kernel gives its reference to the module back after the last buffer.
check "the exporter unloads" wait_until 10 rmmod exporter
