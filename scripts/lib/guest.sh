# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Boots guests: Debian's kernels in QEMU, User-mode Linux as an ordinary program. guest_start ROLE
# uses $kernel (an item of scripts/setup), $image, $run (this run's folder) and $two.

# Print warnings to the console, and stop at the first.
# Without slab_debug=F, allocations use per-CPU arrays of free objects. kmemleak takes their stale
# entries for references, and would find no leak. On a busy host, the emulated TSC is the best clock.
kernel_words() # KERNEL_NAME
{
	echo loglevel=5 panic_on_warn=1 panic=-1 oops=panic
	[[ $1 != @(debug|smp) ]] || echo slab_debug=F
	[[ $1 != @(smp|kcsan) ]] || echo tsc=reliable
}

guest_kind() # KERNEL_NAME
{
	case $1 in
	newest | parallel | debug) echo um ;;
	*) echo qemu ;;
	esac
}

# The initial root: busybox, our init, the kernel's modules. UML uses the folder, QEMU a cpio of it.
make_first_root() # FOLDER
{
	local applet
	mkdir -p "$1"/{bin,proc,sys,dev,lower,upper,new}
	ln -s bin "$1/sbin"   # where the kernel looks for modprobe
	cp "$(command -v busybox)" "$1/bin/busybox"
	for applet in sh cat cp mkdir modprobe mount sleep; do
		ln -s busybox "$1/bin/$applet"
	done
	cp "$repo/tests/vm/guest/first-init" "$1/init"
	cp -a "$kernel/modules/lib" "$1/lib"
	(cd "$1" && find . | cpio -o -H newc --quiet) >"$1.cpio"
}

guest_start() # ROLE; sets guest_pid
{
	if [[ $kind == um ]]; then
		take_processor
		um_start "$1"
	else
		qemu_start "$1"
	fi
}

# shellcheck disable=SC2054,SC2034
secure_boot_machine() # FIRMWARE VARIABLES; sets machine
{
	machine=(-M "q35,smm=on" -global driver=cfi.pflash01,property=secure,value=on
		-drive "if=pflash,format=raw,unit=0,readonly=on,file=$1" -drive "if=pflash,format=raw,unit=1,file=$2")
}

qemu_start() # ROLE; sets accelerator
{
	local role=$1 network cpus=2 machine=(-M q35) image_file=$kernel/vmlinux
	[[ ! ${icount:-} ]] || cpus=1
	if [[ $two ]]; then
		cpus=1
		network=(-netdev "dgram,id=net,local.type=unix,local.path=$scratch/$role,remote.type=unix,remote.path=$scratch/$([[ $role == a ]] && echo b || echo a)"
			-device "virtio-net-pci,netdev=net,host_mtu=9000,mac=52:54:00:00:00:0$([[ $role == a ]] && echo 1 || echo 2)")
	else
		network=(-nic none)
	fi
	# The clock advances a nanosecond with each instruction. While the guest is idle, it has the host's speed.
	[[ ! ${icount:-} ]] || accelerator='-accel tcg,thread=single -icount shift=0,sleep=on -cpu max'
	# no_timer_check: on a busy host, timer ticks can be so late that the kernel considers the
	# timer broken and panics.
	[[ ${accelerator:-} ]] || accelerator=$(qemu_accelerator "$kernel" "$run/first-root.cpio" sroce-kvm-boots rdinit=/bin/busybox -- echo sroce-kvm-boots)
	if [[ ${secure_boot:-} ]]; then
		cp "$secure_boot/vars.fd" "$run/vars-$role.fd"
		secure_boot_machine "$secure_boot/code.fd" "$run/vars-$role.fd"
		image_file=$secure_boot/vmlinuz
	fi
	# shellcheck disable=SC2086
	qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot "${machine[@]}" $accelerator \
		-smp "$cpus" -m "$memory" -kernel "$image_file" -initrd "$run/first-root.cpio" \
		-append "console=ttyS0 $(kernel_words "$name" | xargs) $(tsc_word "$accelerator") ${boot_words:-} no_timer_check sroce.root=erofs sroce.share=9p sroce.role=$role" \
		-drive "if=none,id=root,format=raw,readonly=on,file=$image/root.erofs" -device virtio-blk-pci,drive=root \
		-fsdev "local,id=share,path=$run/share,security_model=none" \
		-device virtio-9p-pci,fsdev=share,mount_tag=share \
		-serial "file:$run/console-$role" -serial "file:$run/result-$role" \
		"${network[@]}" </dev/null >"$run/qemu-$role" 2>&1 &
	guest_pid=$!
	disown   # keeps bash from reporting how it ended
}

# Pinned to one CPU if it has only one: UML's threads then run one at a time, and migrating them makes
# a system call five times as expensive.
um_start() # ROLE
{
	# shellcheck disable=SC2046
	(
		ulimit -c 0
		export TMPDIR=/dev/shm
		exec $(um_affinity) "$kernel/vmlinux" $(um_cpu_count) mem="$memory" root=/dev/root rootfstype=hostfs "rootflags=$run/first-root" ro init=/init \
			con0=null,fd:1 con=null ssl=null $(kernel_words "$name") seccomp=on \
			"sroce.root=hostfs:$image/root" "sroce.share=hostfs:$run/share" "sroce.role=$1"
	) </dev/null >"$run/console-$1" 2>&1 &
	guest_pid=$!
	disown   # keeps bash from reporting how it ended
}

um_affinity() { [[ $name == parallel ]] || echo "taskset -c $processor"; }
um_cpu_count() { [[ $name != parallel ]] || echo ncpus=2; }

# Choose a CPU that no other UML uses. The lock is held until both this script and its guest have
# ended. A guest with two CPUs takes none.
take_processor() # sets processor
{
	local fd
	[[ $name != parallel ]] || return 0
	for ((processor = 0; processor < $(nproc); processor++)); do
		exec {fd}>>"$cache/processor-$processor.lock"
		! flock -n "$fd" || return 0
		exec {fd}>&-
	done
	processor=$((RANDOM % processor))
}

# The guest's TSC runs at the host's speed under TCG, which a guest may misjudge on a busy host. On a
# virtual machine that speed is its "cpu MHz"; on a real one that changes.
tsc_word() # ACCELERATOR
{
	[[ $1 != *tcg* || $1 == *icount* ]] || awk '/^cpu MHz/ { mhz = $4 } /^flags.* hypervisor/ { printf "tsc_early_khz=%d\n", mhz * 1000; exit }' /proc/cpuinfo
}

# On some machines /dev/kvm opens, but every kernel hangs. Only a boot that reaches the first program
# proves that KVM works. The result is kept in the cache, or else in $run; if neither can be written,
# every run would have to try, so then it is TCG.
qemu_accelerator() # KERNEL CPIO TEXT WORD...: the first program prints TEXT if the kernel gets the words
{
	local name folder new words='' tcg='-accel tcg,thread=multi -cpu max'
	{ : <>/dev/kvm; } 2>/dev/null || { echo "$tcg"; return; }
	name=accelerator-$({ uname -r; grep -m 1 'model name' /proc/cpuinfo; } | sha256sum | cut -c1-10)
	mkdir -p "$cache" 2>/dev/null || true
	for folder in "$cache" "$run"; do
		if read -r words 2>/dev/null <"$folder/$name"; then break; fi
		if new=$(mktemp "$folder/$name-XXXXXX" 2>/dev/null); then break; fi
	done
	if [[ ${new:-} ]]; then
		words=$tcg
		! kvm_boots "$@" || words='-accel kvm -cpu host'
		echo "$words" >"$new"
		chmod 644 "$new"
		mv "$new" "$folder/$name"
	fi
	echo "${words:-$tcg}"
}

# In the foreground, so that an interrupt ends QEMU; then this shell ends, too, without a result.
kvm_boots() # KERNEL CPIO TEXT WORD...
{
	say "trying KVM"
	trap 'rm -f "$new"; trap - INT; kill -INT $BASHPID' INT
	timeout --foreground 20 qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot -M q35 -accel kvm -cpu host \
		-m 512 -kernel "$1/vmlinux" -initrd "$2" -append "console=ttyS0 panic=-1 ${*:4}" \
		-serial stdio </dev/null >"$scratch/kvm" 2>/dev/null || true
	trap - INT
	grep -q "^$3" "$scratch/kvm"
}
