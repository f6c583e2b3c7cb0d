# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The private headers of rdma-core, which no package has, for tests/rdma_core/. The provider is
# built without them. An item has a folder per suite with
#   include   driver.h and the headers that it includes
#   version   the version of rdma-core that they are from
# The mirror has no source of Debian 12's version any more.
rdma_core_suites=(trixie sid)

rdma_core_item() { echo "$cache/rdma-core-$(apt_version sid libibverbs1)-$(recipe_hash "$repo/scripts/lib/rdma-core.sh")"; }

make_rdma_core() # DIR
{
	local dir=$1 suite
	for suite in "${rdma_core_suites[@]}"; do
		apt_source "$suite" rdma-core "$dir/source"
		rdma_core_headers "$dir/source" "$dir/$suite/include"
		sed -n 's/^set(PACKAGE_VERSION "\(.*\)")/\1/p' "$dir/source/CMakeLists.txt" >"$dir/$suite/version"
		rm -rf "$dir/source"
	done
}

rdma_core_headers() # SOURCE DESTINATION
{
	local source=$1 include=$2 abi
	abi=$(sed -n 's/^set(IBVERBS_PABI_VERSION "\(.*\)")/\1/p' "$source/CMakeLists.txt")
	mkdir -p "$include"/{infiniband,kernel-abi}
	cp "$source"/libibverbs/*.h "$source/kernel-headers/rdma/ib_user_ioctl_verbs.h" "$include/infiniband/"
	cp -r "$source"/{ccan,util} "$source/kernel-headers/rdma" "$include/"
	find "$include" -type f ! -name '*.h' -delete
	python3 "$source/buildlib/make_abi_structs.py" "$source/kernel-headers/rdma/ib_user_verbs.h" \
		"$include/kernel-abi/ib_user_verbs.h"
	# The results of rdma-core's cmake checks with any current compiler.
	cat >"$include/config.h" <<-END
		#define HAVE_STATEMENT_EXPR 1
		#define HAVE_BUILTIN_TYPES_COMPATIBLE_P 1
		#define HAVE_TYPEOF 1
		#define IBVERBS_PABI_VERSION $abi
	END
}
