# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The programs of sid, for cases with "# parts: sid".

sid_root=/tmp/sid

unpack_sid()
{
	mkdir -p $sid_root
	tar -xf "$programs/sid.tar" -C $sid_root
	# The provider of this mode
	cp /etc/libibverbs.d/rxe.driver $sid_root/etc/libibverbs.d/
}
