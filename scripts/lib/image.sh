# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The guests' userland, with this distribution's unmodified rdma-core and perftest. An item has
#   root         the tree, which User-mode Linux mounts through hostfs
#   root.erofs   the same as one uncompressed image, which all QEMU guests share read-only
# root/suites/NAME is a small root with the libibverbs of a later suite.
guest_packages=(
	rdma-core ibverbs-providers ibverbs-utils rdmacm-utils perftest iperf3
	qperf ucx-utils libfabric-bin openmpi-bin python3-mpi4py infiniband-diags
	iproute2 iputils-ping nftables ethtool tcpdump procps kmod psmisc crun tmux
	libstdc++6 libnl-3-200 libnl-route-3-200 libmnl0 python3-pyverbs
)
# rdma-core's own tests in Python. python3-pyverbs has them as documentation, of the same version as libibverbs; the mirror may have
# the source package of another version only. All of Python adds 50 MB to the image.
python_tests=/usr/share/doc/rdma-core/tests

later_suites=(trixie sid)
later_packages=(libc6 libgcc-s1 libstdc++6 libibverbs1 ibverbs-providers ibverbs-utils libnl-3-200 libnl-route-3-200)

image_item()
{
	local version newest
	version=$(apt_version system rdma-core)
	newest=$(apt_version sid libibverbs1)
	echo "$cache/image-$version-$newest-$(recipe_hash "$repo/scripts/lib/image.sh")"
}

make_image() # DIR
{
	local dir=$1 packages suite
	packages=$(IFS=,; echo "${guest_packages[*]}")
	# mmdebstrap reads the package sources, which are this system's, from its standard input.
	system_sources | mmdebstrap --variant=minbase --include="$packages" \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/lib/*/libicudata.so*' \
		--dpkgopt="path-include=${python_tests%/*}" --dpkgopt="path-include=$python_tests/*" \
		--customize-hook="chroot \"\$1\" sh -c 'gunzip $python_tests/*.gz && python3 -m compileall -q $python_tests'" \
		"$(. /etc/os-release && echo "$VERSION_CODENAME")" "$dir/root"
	rm -rf "$dir/root/dev"/* "$dir/root/var/lib/apt/lists" "$dir/root/var/cache/apt"
	mkdir -p "$dir/root"/{run,share,modules,lib/modules}
	for suite in "${later_suites[@]}"; do
		make_later_root "$suite" "$dir/root/suites/$suite"
	done
	mkfs.erofs "$dir/root.erofs" "$dir/root"
}

# A case mounts the guest's folders in it and changes to it. Its libibverbs finds our provider, and
# librxe if IBV_DRIVERS says so.
make_later_root() # SUITE ROOT
{
	local suite=$1 root=$2
	mkdir -p "$root"/{dev,proc,sys,share,etc/libibverbs.d,usr/lib,usr/lib64}
	ln -s usr/lib usr/lib64 "$root"
	apt_unpack "$suite" "$root" "${later_packages[@]}"
	rm -rf "${root:?}/usr/share" "$root"/usr/lib/*/gconv "$root/etc/libibverbs.d"/*
	find "$root"/usr/lib/*/libibverbs -name '*.so' ! -name 'librxe-*' -delete
	echo "driver /share/programs/libsroce" >"$root/etc/libibverbs.d/sroce.driver"
}

# shellcheck disable=SC2016
system_sources()
{
	apt-get indextargets --format 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(REPO_URI) $(CODENAME) $(COMPONENT)' \
		'Created-By: Packages' | sort -u
}
