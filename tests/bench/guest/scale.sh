# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Memory, cost and time that grow with the number of queue pairs and memory regions. Prints lines
# "figure ROUND TYPE MTU KIND ROW VALUE", as speed.sh does: memory in KiB, cost in ns, time in ms, count.
# Settings: ROUNDS, TYPES and ONLY.
# guests: one
# kernels: newest
# seconds: 3000
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/cases/lib/types.sh
: "${ROUNDS:=3}" "${TYPES:=rxe sroce native}" "${ONLY:=*}"
export LIMIT=60

# The row's name (two if the program prints two numbers), its kind, arguments of the program scale.
rows='
qp_memory          memory  --what memory --count 1000
qp_memory_used     memory  --what memory --count 1000 --used
rq_memory          memory  --what receivers --count 1000
srq_memory         memory  --what receivers --count 1000 --srq
create_3000_qps    time    --what create --count 1500
message_1_qp       cost    --what message --count 1
message_8_qps      cost    --what message --count 8
message_1000_idle  cost    --what message --count 1000 --idle
message_1000_qps   cost    --what message --count 1000
write_and_flag     cost    --what flag --count 20000
timers_1000_idle   count   --what timers --count 1000
message_1_mr       cost    --what regions --count 1
message_10000_mrs  cost    --what regions --count 10000
register_1G,deregister_1G time --what register --mib 1024
'

# scale ROW KIND OPTION...: prints one figure of this round
scale()
{
	local row=$1 kind=$2 values value
	shift 2
	values=$(on_a chrt -i 0 "$programs/scale" --dev-a "$A_DEV" --gid-a "$A_GID" --dev-b "$B_DEV" --gid-b "$B_GID" "$@" 2>>"$keep.failures") || true
	read -r -a values <<<"${values//$'\n'/ }"
	for value in "${row%%,*}:${values[0]:-fails}" ${row##*,}:"${values[1]:-}"; do
		[[ $value == *: ]] || echo "figure $round $type 1024 $kind ${value/:/ }"
	done
}

topology none
for ((round = 1; round <= ROUNDS; round++)); do
	while read -r row kind options <&3; do
		# shellcheck disable=SC2053
		[[ $row && $row == $ONLY ]] || continue
		for type in $TYPES; do
			[[ $type != rxe || $kind != count ]] || continue   # /proc/timer_list does not list its timers
			attach "$type" 1024
			# shellcheck disable=SC2086
			scale "$row" "$kind" $options
			detach
		done
	done 3<<<"$rows"
done
ok "measured"
