# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Sourced by every script: paths, messages, and the cache of finished items.
#
# A cache item is a folder $cache/NAME-KEY. KEY identifies its content (a package version and a hash
# of the recipe), so a changed recipe or a newer package makes another item. An item is built in
# NAME-KEY.partial and renamed when it is complete, so an interrupted build never looks finished.

shopt -s inherit_errexit   # make a failing command inside $(…) fail the script

# shellcheck disable=SC2034  # used by the scripts that source this file
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${HOME:=/}"   # unset in some containers
cache=${SROCE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sroce}

say() { printf '%s\n' "sroce: $*" >&2; }

die()
{
	printf '%s\n' "sroce: error: $*" >&2
	exit 1
}

# recipe_hash FILE...: a short hash of the content of these files
recipe_hash() { cat "$@" | sha256sum | cut -c1-10; }

# cache_build DIR WHAT RECIPE ARGUMENT...: unless DIR exists, run the recipe, a shell function. Its
# last argument is the folder to fill, and $final the path that the folder will have in the end. The
# recipe is a function of scripts/setup, or of the script $recipes.
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
		# In a separate process, because "set -e" is ignored in a function called from a
		# condition.
		if ! final=$dir "${recipes:-$repo/scripts/setup}" --recipe "$@" "$dir.partial" >"$dir.log" 2>&1 9>&-; then
			tail -n 20 "$dir.log" >&2
			die "making ${what%% (*} failed; the log is $dir.log"
		fi
		mv -T "$dir.partial" "$dir"
		say "made ${what%% (*} in $((SECONDS - start)) s"
	) 9>"$dir.lock"
}
