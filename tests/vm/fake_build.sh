# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The things that scripts/up finds where it can build: sources, a compiler, the kernel's headers. "make" is a stub that
# takes the module that the host has built. Stubs are in the folder $stubs, which the case puts into $PATH.

fake_sources() # in /share/repo
{
	mkdir -p kernel
	echo '// sources' | tee Kbuild >kernel/main.c
}

stub() # NAME TEXT
{
	printf '#!/bin/bash\n%s\n' "$2" >"$stubs/$1"
	chmod +x "$stubs/$1"
}

fake_build()
{
	local release kdir
	release=$(uname -r)
	kdir=/lib/modules/$release/build
	stub gcc 'echo 12.2.0'
	stub strip :
	# shellcheck disable=SC2016
	stub make 'for word; do case $word in BUILD=*) build=${word#*=} ;; KDIR=*) kdir=${word#*=} ;; esac; done
echo made >>"$keep/made"
[[ " $* " == *" module "* && -e $kdir/Makefile && $build ]] || exit 1
sleep 1
mkdir -p "$build/module/up" && cp /share/module/sroce.ko "$build/module/up/"'
	mkdir -p "$kdir/include/generated"
	touch "$kdir/Makefile"
	echo "#define UTS_RELEASE \"$release\"" >"$kdir/include/generated/utsrelease.h"
	echo 'CONFIG_INFINIBAND=y' >"$kdir/.config"
}
