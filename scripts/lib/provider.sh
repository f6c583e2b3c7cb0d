#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# provider.sh install|uninstall [DESTDIR]: let sroce's provider open sroce's devices, or no longer.
# libibverbs asks the provider that is configured last first, but reads files in any order. So
# rxe.driver moves to a folder, which libibverbs ignores, and its lines to sroce.driver.
set -euo pipefail
folder=${2:-}/etc/libibverbs.d
case $1 in
install)
	mkdir -p "$folder/sroce"
	[[ ! -e $folder/rxe.driver ]] || mv "$folder/rxe.driver" "$folder/sroce/"
	{ cat "$folder/sroce/rxe.driver" 2>/dev/null || true; echo "driver sroce"; } >"$folder/sroce.driver"
	;;
uninstall)
	rm -f "$folder/sroce.driver"
	[[ ! -e $folder/sroce/rxe.driver ]] || mv -n "$folder/sroce/rxe.driver" "$folder/"
	rm -rf "$folder/sroce"
	;;
esac
