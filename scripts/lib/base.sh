# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Sourced by every script: where things are, how to speak, and the cache of finished items.
#
# A cache item is a folder $cache/NAME-KEY. KEY names its content (package version and a hash of the
# recipe), so that a changed recipe or a newer package is simply another item. An item is made in
# NAME-KEY.partial and renamed when it is whole: an interrupted build leaves nothing that looks finished.

shopt -s inherit_errexit   # a command that fails inside $(…) fails

# shellcheck disable=SC2034  # used by the scripts that source this file
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${SROCE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sroce}

say() { printf '%s\n' "sroce: $*" >&2; }

die()
{
	printf '%s\n' "sroce: error: $*" >&2
	exit 1
}

# recipe_hash FILE...: a short name for the content of these files
recipe_hash() { cat "$@" | sha256sum | cut -c1-10; }

# cache_build DIR WHAT RECIPE ARGUMENT...: unless DIR exists, run the recipe (a shell function) with the
# folder to fill as its last argument and $final as the place where its result is going to be.
cache_build()
{
	local dir=$1 what=$2 start=$SECONDS
	shift 2
	[[ -d $dir ]] && return
	mkdir -p "$cache"
	(
		flock 9
		[[ -d $dir ]] && exit
		say "making $what"
		rm -rf "$dir.partial"
		mkdir "$dir.partial"
		# A process of its own: "set -e" has no effect in a function called from a condition.
		if ! final=$dir "$repo/scripts/setup" --recipe "$@" "$dir.partial" >"$dir.log" 2>&1 9>&-; then
			tail -n 20 "$dir.log" >&2
			die "$what: failed, the log is $dir.log"
		fi
		mv -T "$dir.partial" "$dir"
		say "made ${what%% (*} in $((SECONDS - start)) s"
	) 9>"$dir.lock"
}
