# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# sid's Valkey, built here with RDMA, which Debian's packages of it lack. An item has
#   bin      valkey-server, valkey-cli, valkey-benchmark, and rdma-test, the program of Valkey's own test
#   tests    that test's own script, rdma/run.py, beside the program
#   src      valkey-server, where the script looks for it
valkey_item() { echo "$cache/valkey-$(apt_version sid valkey-server)-$(recipe_hash "$repo/scripts/lib/valkey.sh")"; }

make_valkey() # DIR
{
	local dir=$1 programs=(valkey-server valkey-cli valkey-benchmark)
	apt_source sid valkey "$dir/source"
	nice make -C "$dir/source/src" -j2 BUILD_RDMA=yes MALLOC=libc BUILD_TLS=no USE_SYSTEMD=no OPTIMIZATION=-O2 "${programs[@]}"
	make -C "$dir/source/tests/rdma"
	mkdir "$dir/bin"
	install -s -t "$dir/bin" "${programs[@]/#/$dir/source/src/}" "$dir/source/tests/rdma/rdma-test"
	mkdir -p "$dir/src" "$dir/tests/rdma"
	ln "$dir/bin/valkey-server" "$dir/src/"
	ln "$dir/bin/rdma-test" "$dir/tests/rdma/"
	cp "$dir/source/tests/rdma/run.py" "$dir/tests/rdma/"
	rm -rf "$dir/source"
}
