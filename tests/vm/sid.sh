# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The programs of sid, for cases with "# parts: sid".

sid_root=/tmp/sid

unpack_sid()
{
	# The cases of a guest share it, in memory.
	[[ -d $sid_root ]] || { mkdir $sid_root && tar -xf "$programs/sid.tar" -C $sid_root; } || return
	# The provider of this mode
	cp /etc/libibverbs.d/rxe.driver $sid_root/etc/libibverbs.d/
}
