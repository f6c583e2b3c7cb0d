# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# This system's librpma, unpacked but not installed, and our program that uses it. An item has
#   bin   rpma_verify, librpma.so.0
rpma_verify=$repo/tests/vm/programs/rpma_verify

librpma_item() { echo "$cache/librpma-$(apt_version system librpma0)-$(recipe_hash "$repo/scripts/lib/librpma.sh" "$rpma_verify"/* "$rpma_verify"/../harness/{args,failure,random,tap}.*)"; }

make_librpma() # DIR
{
	local dir=$1 programs=$rpma_verify/..
	apt_unpack system "$dir/root" librpma0 librpma-dev
	mkdir "$dir/bin"
	cp "$dir"/root/usr/lib/*/librpma.so.0 "$dir/bin"
	# shellcheck disable=SC2016   # the loader replaces $ORIGIN
	g++ -std=c++20 -O2 -Wall -Wextra -I "$programs" -I "$dir/root/usr/include" -o "$dir/bin/rpma_verify" \
		"$rpma_verify"/*.cc "$programs"/harness/{args,tap}.cc "$dir/bin/librpma.so.0" -libverbs -Wl,-rpath,'$ORIGIN'
	rm -r "$dir/root"
}
