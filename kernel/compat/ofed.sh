#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# ofed.sh RELEASE: print where the headers are of the RDMA that this kernel loads, if that is not its own but that of MLNX_OFED or DOCA.
# Print "missing" if they are not there. The packages of OFED put them into one of two folders.
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
