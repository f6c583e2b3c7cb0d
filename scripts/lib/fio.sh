# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# sid's fio, built here without the storage clusters whose libraries Debian's package needs. An item has
#   bin   fio
fio_item() { echo "$cache/fio-$(apt_version sid fio)-$(recipe_hash "$repo/scripts/lib/fio.sh")"; }

make_fio() # DIR
{
	local dir=$1
	apt_source sid fio "$dir/source"
	(cd "$dir/source" && ./configure --disable-native --disable-rados --disable-rbd --disable-gfapi --disable-libnfs --disable-pmem --disable-http --disable-numa)
	nice make -C "$dir/source" -j2 fio
	mkdir "$dir/bin"
	install -s -t "$dir/bin" "$dir/source/fio"
	rm -rf "$dir/source"
}
