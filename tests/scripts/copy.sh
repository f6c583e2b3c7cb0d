# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# For tests that change a copy of a system. Sourced with the test's arguments; the test then runs in a
# mount namespace of its own, with lib.sh, in the folder of the project. The mounts end with it.
repo=$(cd "$(dirname "$(readlink -f "$0")")/../.." && pwd)
[[ ${1:-} == --unshared ]] || exec unshare -m "$0" --unshared
# Not in /tmp, which may be memory.
scratch=$(mktemp -d -p "${TMPDIR:-/var/tmp}")
root=$scratch/root
trap 'umount -R -l "$root" "$scratch"/*/root 2>/dev/null || true; rm -rf --one-file-system "$scratch"' EXIT
# shellcheck source=tests/scripts/lib.sh
. "$repo/tests/scripts/lib.sh"
cd "$repo" || exit

# Makes a copy of the system in FOLDER, $root. The files that differ are in $scratch/upper.
copy_system() # FOLDER
{
	mkdir -p "$scratch"/{upper,work,root}
	mount -t overlay overlay -o "lowerdir=$1,upperdir=$scratch/upper,workdir=$scratch/work" "$root"
	mount -t proc proc "$root/proc"
	mount --rbind /dev "$root/dev"
}

# Makes the copy a system that runs a kernel of scripts/setup, $kernel. Its user says yes to apt.
runs_kernel() # NAME; sets kernel, release
{
	kernel=$(scripts/setup --path "kernel-$1")
	release=$(<"$kernel/release")
	mkdir -p "$root/lib/modules"
	cp -r "$kernel/modules/lib/modules/$release" "$root/lib/modules/"
	# shellcheck disable=SC2016   # of that program
	printf '#!/bin/sh\n[ "$*" = -r ] && echo %s || exec /bin/uname "$@"\n' "$release" >"$root/usr/local/bin/uname"
	chmod +x "$root/usr/local/bin/uname"
	echo 'APT::Get::Assume-Yes "true";' >"$root/etc/apt/apt.conf.d/99yes"
}

# scripts/check puts ccache into PATH, which would leave files behind. $first_path comes before the system's folders.
inside() { chroot "$root" env PATH="${first_path:+$first_path:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" DEBIAN_FRONTEND=noninteractive "$@" </dev/null; }
