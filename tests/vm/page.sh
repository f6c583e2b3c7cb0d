# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Tests run the commands of a page as they are written there. tests/style/checks/page_commands finds those that no test runs.

page_block() # PAGE NAME: print the block that begins with "```sh NAME"
{
	awk -v name="$2" '/^```/ { on = $0 == "```sh " name; found = found || on; next } on
		END { if (!found) print "no block " name " in " FILENAME >"/dev/stderr"; exit !found }' "$1"
}
