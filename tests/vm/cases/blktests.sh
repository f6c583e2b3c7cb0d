# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The groups nvme and srp of blktests, if BLKTESTS=FOLDER names its checkout: on a device of ours, then on
# one of rdma_rxe. This guest is target and initiator. Ours must pass every test that rdma_rxe passes.
# may_skip lists those that fail on both. --set TESTS='nvme/010 srp/001' selects some.
# guests: one
# links: sroce
# kernels: 6.12
# seconds: 1500
# parts: blktests
# stages: none
# full: vm-6.12
set -euo pipefail
. /share/vm/lib.sh

root=/tmp/blktests limit=$((100 * TIME_FACTOR))

# The kernel loads modules for itself, too, so this guest gets the root's.
make_root()
{
	local release
	release=$(uname -r)
	modprobe loop
	mkdir $root{,-lower,-upper}
	mount -t erofs -o ro,loop "$programs/blktests.erofs" $root-lower
	mount -t tmpfs tmpfs $root-upper
	mkdir $root-upper/{data,work}
	mount -t overlay -o lowerdir=$root-lower,upperdir=$root-upper/data,workdir=$root-upper/work overlay $root
	mount -t tmpfs tmpfs $root/run
	cp /share/module/sroce.ko "$root/lib/modules/$release/kernel/drivers/infiniband/"
	chroot $root depmod "$release"
	mount --bind $root/usr/lib/modules /lib/modules
	ln -sfn /proc/self/fd /dev/fd
	# nvmet would export a file of an overlay with no size.
	truncate -s 1G $root/disk
	/share/vm/guest/in_root $root mkfs.ext4 -q /disk
	mount -o loop $root/disk $root/tmp
}

# blktests makes a device on each Ethernet interface of the first namespace.
make_link()
{
	ip netns add b
	ip link add eth_a type veth peer name eth_b netns b
	ip -n b link set eth_b up
	address_add eth_a "$A_IP" "$A_IP6"
}

# In ours, sroce takes the place of siw. blktests cannot read the version in a release such as 6.12.1+deb12.
make_copies()
{
	local line='/^[[:blank:]]*#/!s/\<siw\>/sroce/'
	sed -i '/uname -r | sed/s/-\.\*/[-+].*/' $root/blktests/common/rc
	printf '%s\n' NVMET_TRTYPES=rdma NVME_IMG_SIZE=350M NVME_NUM_ITER=10 TIMEOUT=10 >$root/blktests/config
	cp -a $root/blktests $root/tmp/rxe
	cp -a $root/blktests $root/tmp/sroce
	sed -i "$line" $root/tmp/sroce/{common/multipath-over-rdma,common/nvme,tests/srp/rc}
	echo USE_RXE=1 >>$root/tmp/rxe/config
	[[ $(diff -r $root/blktests $root/tmp/sroce | grep -c '^>') == 5 ]]
}

tests() { (cd $root/blktests/tests && printf '%s\n' {nvme,srp}/[0-9][0-9][0-9]); }

run_tests() # STACK
{
	# shellcheck disable=SC2046,SC2086 # a list of tests
	/share/vm/guest/in_root $root /share/vm/guest/blktests "/tmp/$1" $limit ${TESTS:-$(tests)} >"$keep/$1.log" 2>&1 || true
	cp -r "$root/tmp/$1/results" "$keep/$1-results"
	dmesg -c >"$keep/$1.dmesg"
	result_lines <"$keep/$1.log" >"$keep/$1"
}

# From what blktests prints, make lines of a test with its variant, its result, and a reason.
result_lines()
{
	awk '
	function flush() { if (row != "") print row "\t" result "\t" reason; row = "" }
	/^[a-z]+\/[0-9]+ / && match($0, /\((tr|bd)=[^)]*\)/) { began = $1 " " substr($0, RSTART, RLENGTH) }
	/^[a-z]+\/[0-9]+ .*\[(passed|failed|not run)\]$/ {
		flush()
		test = row = $1
		result = $0
		reason = ""
		gsub(/.*\[|\]$/, "", result)
		# Of a test that exceeds the limit, the variant is in the line that said that it began.
		if (index(began, test " ") == 1) row = began
		next
	}
	/^# [a-z]+\/[0-9]+: status / {
		flush()
		sub(/:$/, "", $2)
		# blktests says nothing about tests of a device that nobody names.
		if (test != $2) print $2 ($4 ? "\tfailed\tstatus " $4 : "\tnot run\tno device to test")
	}
	/^    runtime / { next }
	reason == "" && (result == "not run" || /^    (\+[^+]|something)/) { reason = $0; sub(/^[ +]+/, "", reason) }'
}

compare()
{
	local row result reason other passed=0
	declare -A theirs=()
	while IFS=$'\t' read -r row result reason; do
		theirs[$row]=$result
	done <"$keep/rxe"
	while IFS=$'\t' read -r row result reason; do
		other=${theirs[$row]:-missing}
		unset "theirs[$row]"
		[[ $result != passed ]] || passed=$((passed + 1))
		case $result-$other in
		passed-*) ok "$row, rdma_rxe: $other" ;;
		"not run-not run") skip "$row" "rdma_rxe skips it, too: $reason" ;;
		failed-failed) skip "$row" "rdma_rxe fails it, too: $reason" ;;
		*) not_ok "$row: $result, rdma_rxe: $other" "$reason" ;;
		esac
	done <"$keep/sroce"
	for row in "${!theirs[@]}"; do
		not_ok "$row: missing, rdma_rxe: ${theirs[$row]}"
	done
	# Without a program or a module, most would be skipped.
	[[ ${TESTS:-} ]] || check "$passed pass, at least 55" test $passed -ge 55
}

leave_case()
{
	local place
	! pidof systemd-udevd >/dev/null || kill "$(pidof systemd-udevd)"
	for place in /lib/modules $root/{tmp,run} $root{,-upper,-lower}; do
		! mountpoint -q "$place" || wait_until 10 umount "$place"
	done
	echo "$printk" >/proc/sys/kernel/printk
	echo "$panic_on_warn" >/proc/sys/kernel/panic_on_warn
	echo "$hung_task_panic" >/proc/sys/kernel/hung_task_panic
}

if [[ -e $programs/blktests.missing ]]; then
	skip "nvme, srp" "$(<"$programs/blktests.missing")"
	exit
fi
# A warning fails the test that causes it, and the case if the device is ours.
printk=$(</proc/sys/kernel/printk)
panic_on_warn=$(</proc/sys/kernel/panic_on_warn) hung_task_panic=$(</proc/sys/kernel/hung_task_panic)
echo 0 | tee /proc/sys/kernel/{panic_on_warn,hung_task_panic} >/dev/null
trap leave_topology EXIT
mkdir -p "$keep"
make_root
make_link
check "five lines of blktests are changed" make_copies
echo "# blktests $(<$root/blktests/version)"
run_tests sroce
check "the kernel logs no error" /share/vm/guest/complaints "$keep/sroce.dmesg"
# Messages of the kernel about rdma_rxe are kept in rxe.dmesg. They do not fail this guest.
echo 1 >/proc/sys/kernel/printk
run_tests rxe
compare
