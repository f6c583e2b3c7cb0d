# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# rdma-core's own tests in Python (pyverbs), on a device of ours and on one of rdma_rxe beside it. Our device must pass every test that
# it does not skip, and every test that rdma_rxe passes, except those that pyverbs.known lists; and it must pass none of those.
# guests: one
# links: sroce
# seconds: 230
# stages: vm-newest vm-newest-native vm-6.12
# full: vm-newest-native vm-debug vm-6.12 vm-6.1
set -euo pipefail
. /share/vm/lib.sh
topology

export each=$((30 * TIME_FACTOR)) total=$((100 * TIME_FACTOR)) LIMIT=110
mkdir -p "$keep"

# Tests of interfaces that only these devices have.
export others='tests.test_mlx5_*,tests.test_efa*,tests.test_cuda*'

suite() # DEVICE GID: all tests on this device; the lines of tests/vm/guest/pyverbs
{
	# The tests poll without pause: the kernel's threads come first.
	timeout $((LIMIT * TIME_FACTOR)) chrt -i 0 /share/vm/guest/pyverbs --dev "$1" --gid "$2" --each $each --total $total \
		--leave-out "$others" --reports "$keep/$1.reports" >"$keep/$1" 2>&1
}
export -f suite

# In the first namespace, because rdma_rxe of older kernels works in no other. A test is both ends of its traffic, on one device.
link_rxe()
{
	modprobe rdma_rxe
	ip link add wire0 type veth peer name wire1
	address_add wire1 10.5.0.2 fd05::2
	address_add wire0 10.5.0.1 fd05::1
	link_add rxe_0 rxe wire0
	wait_for_gid rxe_0 10.5.0.1
}

declare -A ours theirs reasons counts
read_verdicts() # DEVICE ARRAY
{
	local -n verdicts=$2
	local verdict name
	while read -r verdict _ name _; do
		[[ $verdict != "#" ]] || continue
		# shellcheck disable=SC2004 # it is a name
		verdicts[$name]=$verdict
		counts[$1 $verdict]=$((${counts[$1 $verdict]:-0} + 1))
	done <"$keep/$1"
}

ended() { [[ $(tail -n 1 "$keep/$1") == "# end" ]] || { tail -n 20 "$keep/$1"; return 1; }; } # DEVICE

say_counts() # DEVICE...
{
	local device verdict
	printf '# %-10s' ''
	printf '%8s' ok fail error hang death late skip
	echo
	for device; do
		printf '# %-10s' "$device"
		for verdict in ok fail error hang death late skip; do
			printf '%8d' "${counts[$device $verdict]:-0}"
		done
		echo "   $(awk '$1 != "#" { sum += $2 } END { printf "%.0f", sum }' "$keep/$device") s"
	done
}

# pyverbs.known becomes reasons[TEST]. Every line must match some test.
read_known()
{
	local mode pattern reason names name
	while read -r mode pattern reason; do
		[[ $mode != "$MODE" && $mode != both ]] || {
			names=$(tests_like "$pattern")
			[[ $names ]] || not_ok "pyverbs.known: no test is called $pattern"
			for name in $names; do
				reasons[$name]=$reason
			done
		}
	done <"/share/vm/cases/$CASE.known"
}

tests_like() # PATTERN
{
	local name
	for name in "${!ours[@]}"; do
		# shellcheck disable=SC2053
		[[ $name != $1 ]] || echo "$name"
	done
}

# Without the time that ok measures: that takes a process, there are a hundred tests, and $keep has their times.
passes() { echo "ok $((++tests_run)) - $*"; }

judge() # TEST
{
	local name=$1 verdict=${ours[$1]} other=${theirs[$1]:-} reason=${reasons[$1]:-}
	case $verdict in
	ok)
		[[ ! $reason ]] || { not_ok "$name passes: it is to leave pyverbs.known ($reason)"; return; }
		passes "$name"
		;;
	skip)
		[[ $other == ok ]] || return 0
		[[ $reason ]] || { not_ok "$name is skipped, and rdma_rxe passes it"; return; }
		passes "$name is skipped: $reason"
		;;
	fail | error)
		[[ ! $reason ]] || { passes "$name: $verdict: $reason"; return; }
		;;&
	*) not_ok "$name: $verdict${other:+; on rdma_rxe: $other}" "$(tail -n 12 "$keep/$A_DEV.reports/$name")" ;;
	esac
}

on_a suite "$A_DEV" "$A_GID" || true
read_verdicts "$A_DEV" ours
if modinfo rdma_rxe >/dev/null 2>&1; then
	gid=$(link_rxe)
	suite rxe_0 "$gid" || true
	read_verdicts rxe_0 theirs
	check "the tests on rdma_rxe came to their end" ended rxe_0
else
	skip "rdma_rxe beside it" "this kernel has none"
fi
say_counts "$A_DEV" ${gid:+rxe_0}
check "the tests came to their end" ended "$A_DEV"
check "at least 70 tests pass" test "${counts[$A_DEV ok]:-0}" -ge 70
read_known
for name in $(printf '%s\n' "${!ours[@]}" | sort); do
	judge "$name"
done
for name in "${!theirs[@]}"; do
	[[ ${ours[$name]+x} ]] || not_ok "$name ran on rdma_rxe only"
done
