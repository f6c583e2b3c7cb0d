#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The lists of the files that make install has put, for make uninstall. The first line of each is DESTDIR, the
# others are paths in it.
#   installed.sh list LIST DESTDIR        write a list, of the paths on standard input
#   installed.sh remove FOLDER [DESTDIR]  remove what its lists name; with DESTDIR, only from there
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")

# The index of a kernel that is still installed names the module.
forget_module() # PATH
{
	local release=${1#/lib/modules/}
	release=${release%%/*}
	[[ ! -e /lib/modules/$release/modules.dep ]] || depmod "$release"
}

remove_listed() # LIST DESTDIR PATH...
{
	local list=$1 root=$2 path status=0
	shift 2
	for path; do
		rm -fv -- "$root$path" || status=1
	done
	case ${list##*/} in
	userlib) "$here/provider.sh" uninstall "$root" || status=1 ;;
	module-*) [[ -n $root ]] || forget_module "$1" || status=1 ;;
	esac
	((status)) || rm -- "$list"
	return $status
}

case ${1:-} in
list)
	mkdir -p "${2%/*}"
	{ echo "$3"; cat; } >"$2"
	;;
remove)
	status=0
	for list in "$2"/*; do
		[[ -f $list ]] || continue
		mapfile -t lines <"$list"
		[[ -z ${3:-} || ${lines[0]} == "$3" ]] || continue
		remove_listed "$list" "${lines[@]}" || status=1
	done
	exit $status
	;;
*) echo "usage: installed.sh list LIST DESTDIR | remove FOLDER [DESTDIR]" >&2; exit 2 ;;
esac
