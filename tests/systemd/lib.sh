# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A guest with systemd and Debian's kernel, its disk, and what each of its boots reported. QEMU
# emulates it, where DKMS would compile for half an hour. So dpkg installs packages with modules in a
# chroot to the disk, while the guest is off. Needs root. The script that reads this has set $here and
# $release, 12 or 13, and has unshared its mounts. The consoles and journals are in $run.
# shellcheck source=scripts/lib/base.sh
. "$here/../../scripts/lib/base.sh"
# shellcheck source=scripts/lib/guest.sh
. "$repo/scripts/lib/guest.sh"
scratch=$(mktemp -d)
# shellcheck source=tests/scripts/lib.sh
. "$repo/tests/scripts/lib.sh"
run=$repo/build/systemd/$(basename "$0")-$release
disk=$run/disk root=$run/root share=$run/root/share
version=$(sed -n 's/^#define SROCE_VERSION "\(.*\)"/\1/p' "$repo/kernel/version.h")
pid=''
cleanup()
{
	[[ ! $pid ]] || kill -9 "$pid" 2>/dev/null || true
	umount -R -q "$root" || true
	rm -rf --one-file-system "$scratch" "$disk"
}
trap cleanup EXIT

# --- the disk, while the guest is off ---------------------------------------------------------------

open_disk()
{
	mount -o loop "$disk" "$root"
	mount -t proc proc "$root/proc"
	mount --bind /dev "$root/dev"
}
# Programs that a package has started may still run.
close_disk()
{
	local deadline=$((SECONDS + 60))
	until umount -R "$root" 2>"$run/umount"; do
		((SECONDS < deadline)) || { cat "$run/umount" >&2; return 1; }
		sleep 1
	done
}
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive nice -n 5 "$@" </dev/null; }

prepare_disk()
{
	local item
	item=$("$repo/scripts/setup" --path "systemd-$release")
	rm -rf --one-file-system "$run"
	mkdir -p "$root"
	cp --sparse=always "$item/root.ext4" "$disk"
	open_disk
	mkdir -p "$share/packages"
	cp -r "$item/upgrade" "$share/"
	cp "$here/guest" "$repo/tests/scripts/lib.sh" "$share/"
	cat >"$root/etc/systemd/system/steps.service" <<-'END'
		[Unit]
		Description=The steps of a test
		[Service]
		ExecStart=/share/guest
		[Install]
		WantedBy=multi-user.target
	END
	inside systemctl enable steps
	list_files >"$run/before"
	cp "$root/etc/libibverbs.d/rxe.driver" "$run/"
	close_disk
}

list_files() { (cd "$root" && find . -xdev ! -type d -printf '/%P\n') | sort; }

# Files that no package has, and that were not there before. The pattern has those of others: state of
# the system, links of systemctl, indexes of kernels, DKMS's own key, what the guest's steps write.
own='^/(var/(log|cache|tmp|lib/(dpkg|systemd|NetworkManager|dbus|private|dhcp|initramfs-tools|initscripts|urandom))|tmp|run|share)/'
own+='|^/etc/(systemd|network|NetworkManager)/|^/etc/(machine-id|resolv\.conf|\.updated|udev/hwdb\.bin|ld\.so\.cache|adjtime)$|^/(boot/)?(initrd|vmlinuz)[^/]*$'
own+='|^/var/\.updated$|^/var/lib/dkms/mok\.(key|pub)$|^/lib/modules/[^/]*/modules\.[a-z.]*$|^/lost\+found'
left_over()
{
	sed 's,^/usr/lib/,/lib/,' "$root"/var/lib/dpkg/info/*.list | cat - <(sed 's,^/usr/lib/,/lib/,' "$run/before") | sort -u >"$scratch/known"
	list_files | sed 's,^/usr/lib/,/lib/,' | sort -u | comm -23 - "$scratch/known" | grep -vE "$own" || true
}

# --- the guest --------------------------------------------------------------------------------------

nic() # NUMBER
{
	printf '%s\n' -netdev "user,id=net$1,restrict=on" -device "virtio-net-pci,netdev=net$1,id=nic$1,mac=52:54:00:00:00:0$1,romfile="
}

# The guest boots with the kernel that was installed last: as a boot loader would do it, or with
# $secure_boot, an item of scripts/setup, by firmware, shim and GRUB.
secure_boot=''

# Run the machine until it powers off or reboots, or until a time limit. To its second serial port it
# writes TAP, and commands for QEMU. at_prompt is called again and again with the monitor's descriptor.
at_prompt() { :; }
run_machine() # STEP SECONDS
{
	local step=$1 deadline=$((SECONDS + $2)) tap=$run/tap-$1 monitor nics done=0 line words loader machine=(-M q35)
	words="root=/dev/vda rw console=ttyS0 $(kernel_words debian | xargs) $(tsc_word tcg) tsc=reliable no_timer_check"
	if [[ $secure_boot ]]; then
		printf '%s\n' "linux /vmlinuz $words" 'initrd /initrd.img' boot >"$run/boot/EFI/debian/grub.cfg"
		secure_boot_machine "$secure_boot/code.fd" "$run/vars.fd"
		# shellcheck disable=SC2054
		loader=(-drive "if=none,id=boot,format=raw,file=fat:rw:$run/boot" -device virtio-blk-pci,drive=boot,bootindex=1)
	else
		loader=(-kernel "$run/boot/vmlinuz" -initrd "$run/boot/initrd.img" -append "$words")
	fi
	rm -f "$run/monitor"
	mkfifo "$run/monitor"
	exec {monitor}<>"$run/monitor"
	: >"$tap"
	mapfile -t nics < <(nic 1; nic 2)
	nice -n 5 qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot "${machine[@]}" -accel tcg -cpu max -smp 1 -m 1500 \
		-drive "if=none,id=root,format=raw,cache=unsafe,file=$disk" -device virtio-blk-pci,drive=root \
		"${loader[@]}" "${nics[@]}" -netdev user,id=net3,restrict=on -device pcie-root-port,id=port3,chassis=3 \
		-serial "file:$run/console-$step" -serial "file:$tap" -monitor stdio <&"$monitor" >"$run/qemu-$step" 2>&1 &
	pid=$!
	while kill -0 $pid 2>/dev/null && ((SECONDS < deadline)); do
		while IFS= read -r line; do
			echo "$line" >&"$monitor"
			done=$((done + 1))
		done < <(sed -n 's/^ask //p' "$tap" | tail -n "+$((done + 1))")
		at_prompt "$monitor"
		sleep 0.3
	done
	kill -9 $pid 2>/dev/null || true
	wait $pid 2>/dev/null || true
	pid=''
	exec {monitor}>&-
}

boot() # STEP SECONDS
{
	local step=$1
	open_disk
	mkdir -p "$run/boot"
	cp "$root/vmlinuz" "$root/initrd.img" "$run/boot/"
	rm -f "$share/dmesg"
	echo "$step" >"$share/step"
	close_disk
	run_machine "$@"
	open_disk
	# A guest that has panicked has not written it. The console tells why.
	: >"$run/dmesg-$step"
	cp "$share/dmesg" "$run/dmesg-$step" || true
	cp "$share/journal-$step" "$run/" || true
	close_disk
	report "$step" "$run/tap-$step"
}

is_quiet() { "$repo/tests/vm/guest/complaints" "$run/dmesg-$1" "$run/console-$1"; } # STEP

report() # STEP TAP
{
	local line name='' output='' status
	while IFS= read -r line; do
		case $line in
		ok\ * | not\ ok\ *)
			[[ ! $name ]] || verdict "$status" "$1: $name" "$output"
			[[ $line == ok* ]] && status=0 || status=1
			name=${line#* - } output=''
			;;
		'# '*) output+=${line#\# }$'\n' ;;
		esac
	done <"$2"
	[[ ! $name ]] || verdict "$status" "$1: $name" "$output"
	check "$1: the guest has done all and has shut down" grep -qx end "$2"
	check "$1: its kernel has logged no error" is_quiet "$1"
}

# --- packages ---------------------------------------------------------------------------------------

architecture=$(dpkg --print-architecture)
debs() { printf '%s\n' "sroce-dkms_$1_all" "sroce_$1_$architecture" "libsroce_$1_$architecture"; } # VERSION
make_packages() # VERSION OPTION...
{
	local deb status=0
	rm -f build/package/*.deb
	scripts/package "${@:2}" deb || return 1
	open_disk
	for deb in $(debs "$1"); do
		cp "build/package/$deb.deb" "$share/packages/${deb%%_*}-$1.deb" || status=1
	done
	close_disk
	return $status
}
dpkg_i() { inside dpkg --force-unsafe-io -i "${@/#//share/packages/}"; }
