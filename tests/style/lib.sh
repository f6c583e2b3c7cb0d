# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Sourced by the checks: lists our files, and skips a check whose tools are missing.

# files PATTERN...: prints our files, tracked or not ignored. Without -z, git quotes some names.
files()
{
	local file
	git ls-files -z --cached --others --exclude-standard -- "$@" | while IFS= read -rd '' file; do
		[[ ! -f $file ]] || printf '%s\n' "$file"
	done
}

skip()
{
	echo "$*"
	exit 77
}

need() { command -v "$1" >/dev/null || skip "$1 is not installed"; }

# kernel_script NAME: prints the path of a script in a kernel tree that scripts/setup has fetched
kernel_script()
{
	local cache=${SROCE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sroce} tree
	for tree in "$cache"/kernel-6.12-*/kdir "$cache"/kernel-6.1-*/kdir "$cache"/linux-source-*; do
		[[ $tree == *.partial* || ! -e $tree/scripts/$1 ]] || { readlink -f "$tree/scripts/$1"; return; }
	done
	skip "no kernel tree with scripts/$1; scripts/setup fetches one"
}
