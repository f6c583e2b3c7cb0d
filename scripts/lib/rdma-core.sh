# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The private headers of rdma-core, which a provider needs and no package has. An item has
#   include   driver.h and the headers that it includes; public headers are in libibverbs-dev
#   version   the version of rdma-core that they are from
# They must match the private ABI of the installed libibverbs, not its version. The source is that
# of this suite if the mirror still has it, else that of a later suite with the same ABI.
rdma_core_abi=34   # of rdma-core 17 to 56
rdma_core_later=trixie

rdma_core_item() { echo "$cache/rdma-core-abi$rdma_core_abi-$(recipe_hash "$repo/scripts/lib/rdma-core.sh")"; }

make_rdma_core() # DIR
{
	local dir=$1 suite
	# shellcheck disable=SC1091
	for suite in "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$rdma_core_later"; do
		rm -rf "$dir/source"
		rdma_core_source "$suite" "$dir/source" || continue
		grep -qF "set(IBVERBS_PABI_VERSION \"$rdma_core_abi\")" "$dir/source/CMakeLists.txt" || continue
		rdma_core_headers "$dir/source" "$dir/include"
		sed -n 's/^set(PACKAGE_VERSION "\(.*\)")/\1/p' "$dir/source/CMakeLists.txt" >"$dir/version"
		rm -rf "$dir/source"
		return
	done
	die "no suite has an rdma-core source with the private ABI $rdma_core_abi"
}

# Unpack the upstream tarball of a suite's rdma-core, with package lists of its own. apt verifies
# it.
rdma_core_source() # SUITE DIR
{
	local suite=$1 dir=$2 apt
	apt=$(mktemp -d)
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$dir"
	echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) $suite main" >"$apt/sources.list"
	cat >"$apt/apt.conf" <<-END
		Dir::Etc::sourcelist "$apt/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::State::lists "$apt/lists";
		Dir::State::status "/dev/null";
		Dir::Cache "$apt/cache";
		APT::Sandbox::User "root";
	END
	(
		cd "$apt"
		export APT_CONFIG=$apt/apt.conf
		apt-get update -qq && apt-get source --download-only --tar-only -qq rdma-core &&
			tar -xf rdma-core_*.orig.tar.* -C "$dir" --strip-components 1
	) || { rm -rf "$apt"; return 1; }
	rm -rf "$apt"
}

rdma_core_headers() # SOURCE DESTINATION
{
	local source=$1 include=$2
	mkdir -p "$include"/{infiniband,kernel-abi}
	cp "$source"/libibverbs/{driver,kern-abi,cmd_ioctl}.h "$include/infiniband/"
	cp -r "$source"/{ccan,util} "$source/kernel-headers/rdma" "$include/"
	find "$include" -type f ! -name '*.h' -delete
	python3 "$source/buildlib/make_abi_structs.py" "$source/kernel-headers/rdma/ib_user_verbs.h" \
		"$include/kernel-abi/ib_user_verbs.h"
	# The results of rdma-core's cmake checks with any current compiler.
	cat >"$include/config.h" <<-END
		#define HAVE_STATEMENT_EXPR 1
		#define HAVE_BUILTIN_TYPES_COMPATIBLE_P 1
		#define HAVE_TYPEOF 1
		#define IBVERBS_PABI_VERSION $rdma_core_abi
	END
}
