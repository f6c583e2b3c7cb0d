#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# ofed.sh RELEASE: print nothing if this kernel loads its own ib_core. If it loads that of MLNX_OFED or
# DOCA, print the folder of its headers, or "missing". OFED's packages use one of two folders.
set -u
release=${1:-}
PATH=$PATH:/usr/sbin:/sbin
[[ $release && $(modinfo -k "$release" -F depends ib_core 2>/dev/null) == *mlx_compat* ]] || exit 0
for folder in /usr/src/ofa_kernel{,-dkms}/"$(uname -m)/$release"; do
	if [[ -e $folder/Module.symvers && -e $folder/include/linux/compat-2.6.h ]]; then
		echo "$folder"
		exit
	fi
done
echo missing
