# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Roots for scripts/run --root, with the unmodified RDMA programs of Debian's suites, and rdma-core's
# own tests in Python. An item has a folder for each suite.
root_suites=(bookworm trixie sid)
root_packages=ibverbs-utils,ibverbs-providers,rdmacm-utils,perftest,python3-pyverbs,python3-netifaces,iproute2

roots_item() { echo "$cache/roots-$(apt_version system rdma-core)-$(apt_version trixie libibverbs1)-$(apt_version sid libibverbs1)-$(recipe_hash "$repo/scripts/lib/roots.sh")"; }

make_roots() # DIR
{
	local dir=$1 suite
	for suite in "${root_suites[@]}"; do
		echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) $suite main" |
			mmdebstrap --variant=minbase --include="$root_packages" --aptopt='Acquire::Check-Valid-Until "false"' \
				--dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
				--dpkgopt="path-include=${python_tests%/*}" --dpkgopt="path-include=$python_tests/*" \
				--customize-hook="find \"\$1$python_tests\" -name '*.gz' -exec gunzip {} +" \
				"$suite" "$dir/$suite" -
		rm -rf "${dir:?}/$suite"/{dev/*,var/lib/apt/lists,var/cache/apt}
	done
}
