#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# provider.sh install|uninstall [DESTDIR]: let sroce's provider open sroce's devices, or no longer.
# libibverbs asks the provider that is configured last first. It reads files in any order, but the
# lines of a file from the first to the last. So the line goes to the end of librxe's file.
set -euo pipefail
folder=${2:-}/etc/libibverbs.d
drop_line() { sed -i --follow-symlinks '/^[[:space:]]*driver[[:space:]]\+sroce[[:space:]]*$/d' "$folder/rxe.driver"; }
case ${1:-} in
install)
	if [[ -s $folder/rxe.driver ]]; then
		drop_line
		# The line before may lack its end.
		[[ -z $(tail -c 1 "$folder/rxe.driver") ]] || echo >>"$folder/rxe.driver"
		echo "driver sroce" >>"$folder/rxe.driver"
		rm -f "$folder/sroce.driver"
	else
		install -d -m 755 "$folder"
		install -m 644 <(echo "driver sroce") "$folder/sroce.driver"
	fi
	;;
uninstall)
	rm -f "$folder/sroce.driver"
	[[ ! -e $folder/rxe.driver ]] || drop_line
	;;
*) echo "usage: provider.sh install|uninstall [DESTDIR]" >&2; exit 2 ;;
esac
