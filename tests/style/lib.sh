# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Sourced by the checks: which files there are, and how to say that something is missing.

# files PATTERN...: our files, tracked or about to be
files() { git ls-files --cached --others --exclude-standard -- "$@" | while read -r f; do [[ ! -f $f ]] || echo "$f"; done; }

skip()
{
	echo "$*"
	exit 77
}

need() { command -v "$1" >/dev/null || skip "$1 is not installed"; }

# kernel_script NAME: a script of a kernel tree that scripts/setup has fetched
kernel_script()
{
	local cache=${SROCE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sroce} tree
	for tree in "$cache"/kernel-6.12-*/kdir "$cache"/kernel-6.1-*/kdir "$cache"/linux-source-*; do
		[[ $tree == *.partial* || ! -e $tree/scripts/$1 ]] || { readlink -f "$tree/scripts/$1"; return; }
	done
	skip "scripts/setup has fetched no kernel tree with scripts/$1"
}
