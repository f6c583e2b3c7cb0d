# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A small root of sid: the newest rdma-core's tests in Python, and programs of fabtests, which no
# package has. An item has
#   bin/sid.tar   the root; its folder "tests" has the tests in Python, and "version" of rdma-core
sid_packages=(base-files coreutils iproute2 libstdc++6 python3-pyverbs libfabric1)
fabtests=(rma_bw msg_bw msg_pingpong)

sid_item() { echo "$cache/sid-$(apt_version sid python3-pyverbs)-$(apt_version sid libfabric1)-$(recipe_hash "$repo/scripts/lib/sid.sh")"; }

# The packages are only unpacked, because these programs need nothing that packages' scripts do.
make_sid() # DIR
{
	local dir=$1 packages
	packages=$(IFS=,; echo "${sid_packages[*]}")
	mkdir "$dir/bin"
	apt_source sid libfabric "$dir/libfabric"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) sid main" |
		mmdebstrap --variant=extract --include="$packages" --aptopt='Acquire::Check-Valid-Until "false"' \
			--extract-hook="'$repo/scripts/setup' --recipe finish_sid \"\$1\" '$dir/libfabric' '$(apt_version sid python3-pyverbs)'" sid "$dir/bin/sid.tar" -
	rm -r "$dir/libfabric"
}

finish_sid() # ROOT LIBFABRIC VERSION
{
	local root=$1 program
	mv "$root/usr/share/doc/rdma-core/tests" "$root/tests"
	echo "$3" >"$root/tests/version"
	find "$root/tests" -name '*.gz' -exec gunzip {} +
	for program in "${fabtests[@]}"; do
		compile_fabtest "$2" "$program" "$root/usr/bin/fi_$program" "$root"/usr/lib/*/libfabric.so.1
	done
	rm -rf "${root:?}"/usr/share/* "$root"/usr/lib/{systemd,udev} "$root"/usr/lib/*/{gconv,perl*}
	mkdir "$root/share"
}

# sid's libfabric needs a later libc than this system may have.
compile_fabtest() # LIBFABRIC PROGRAM OUTPUT LIBRARY
{
	local folder=$1/fabtests
	: >"$folder/config.h"
	gcc -O2 -D_GNU_SOURCE -DHAVE_CONFIG_H -DENABLE_DEBUG=0 -I "$folder" -I "$folder/include" -I "$1/include" -o "$3" \
		"$folder/benchmarks/$2.c" "$folder/benchmarks/benchmark_shared.c" "$folder/common"/{shared,hmem*,ofi_atomic}.c \
		-Wl,--allow-shlib-undefined "$4" -lpthread -ldl
}
