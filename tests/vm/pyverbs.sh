# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# rdma-core's own tests in Python (pyverbs), for the cases of its versions: on a device of ours, and
# on one of rdma_rxe beside it. Our device must pass every test of CASE.passing, and every test that
# rdma_rxe passes, except those that CASE.known lists; and it must pass none of those. CASE.skipped
# says why it skips the others.

export each=$((30 * TIME_FACTOR)) total=$((100 * TIME_FACTOR)) LIMIT=110

# Tests of interfaces that only these devices have.
export others='tests.test_mlx5_*,tests.test_efa*,tests.test_cuda*'

suite() # DEVICE GID ROOT TESTS: all tests on this device; the lines of tests/vm/guest/pyverbs
{
	# The tests poll without pause: the kernel's threads come first.
	timeout $((LIMIT * TIME_FACTOR)) chrt -i 0 /share/vm/guest/in_root "$3" /share/vm/guest/pyverbs --dev "$1" --gid "$2" --tests "$4" \
		--each $each --total $total --leave-out "$others" --reports "$keep/$1.reports" >"$keep/$1" 2>&1
}
export -f suite

# In the first namespace, because rdma_rxe of older kernels works in no other. A test is both ends
# of its traffic, on one device.
link_rxe()
{
	modprobe rdma_rxe
	ip link add wire0 type veth peer name wire1
	address_add wire1 10.5.0.2 fd05::2
	address_add wire0 10.5.0.1 fd05::1
	link_add rxe_0 rxe wire0
	wait_for_gid rxe_0 10.5.0.1
}

# Our device must pass more tests than rdma_rxe, except with librxe on new kernels: librxe skips the same tests on both devices, and
# rdma_rxe passes all the others.
least() { case $MODE$(uname -r) in rxe6.*) echo 1 ;; rxe*) echo 0 ;; *) echo 1 ;; esac; }

judged()
{
	/share/vm/guest/pyverbs_judge --mode "$MODE" --least "$(least)" --lists "/share/vm/cases/$CASE" "$@" >"$keep/judged" 2>&1
}

run_pyverbs() # ROOT TESTS: the root of the programs, and the folder of the tests in it
{
	local gid outputs=("$keep/$A_DEV")
	mkdir -p "$keep"
	on_a suite "$A_DEV" "$A_GID" "$@" || true
	if modinfo rdma_rxe >/dev/null 2>&1; then
		gid=$(link_rxe)
		suite rxe_0 "$gid" "$@" || true
		outputs+=("$keep/rxe_0")
	else
		skip "rdma_rxe beside it" "this kernel has none"
	fi
	judged "${outputs[@]}" || not_ok "the results are compared" "$(tail -n 5 "$keep/judged")"
	relay tests <"$keep/judged"
}
