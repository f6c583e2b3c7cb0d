# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Functions for the tests of scripts, which print TAP. $scratch is a test's folder.
number=0 failed=0
mkdir -p "$scratch/bin"
PATH=$scratch/bin:$PATH

verdict() # STATUS NAME [OUTPUT]
{
	number=$((number + 1))
	if (($1 == 0)); then
		echo "ok $number - $2"
	else
		failed=$((failed + 1))
		echo "not ok $number - $2"
		printf '%s\n' "${3:-}" | sed 's/^/# /'
	fi
}

check() # NAME COMMAND...
{
	local name=$1 output status=0
	shift
	output=$("$@" 2>&1) || status=$?
	verdict $status "$name" "$output"
}

skip() # NAME REASON
{
	number=$((number + 1))
	echo "ok $number - $1 # SKIP $2"
}

# says NAME STATUS PATTERN COMMAND...: the command must exit with STATUS, and its output match PATTERN
says()
{
	local name=$1 wanted=$2 pattern=$3 output status=0 good=0
	shift 3
	output=$("$@" 2>&1 </dev/null) || status=$?
	((status == wanted)) && grep -qE -- "$pattern" <<<"${output//$'\r'/}" || good=1
	verdict $good "$name" "status $status, wanted $wanted and $pattern: $output"
}

done_testing()
{
	echo "1..$number"
	((failed == 0))
}

stub() # NAME TEXT
{
	printf '#!/usr/bin/env bash\n%s\n' "$2" >"$scratch/bin/$1"
	chmod +x "$scratch/bin/$1"
}

# The os-release of a suite or distribution, in $SROCE_OS_RELEASE
machine()
{
	case $1 in
	bookworm) printf '%s\n' 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"' VERSION_ID='"12"' VERSION_CODENAME=bookworm ID=debian ;;
	trixie) printf '%s\n' 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"' VERSION_ID='"13"' VERSION_CODENAME=trixie ID=debian ;;
	sid) printf '%s\n' 'PRETTY_NAME="Debian GNU/Linux forky/sid"' VERSION_CODENAME=forky ID=debian ;;
	noble) printf '%s\n' 'PRETTY_NAME="Ubuntu 24.04.3 LTS"' VERSION_ID='"24.04"' VERSION_CODENAME=noble ID=ubuntu ID_LIKE=debian ;;
	jammy) printf '%s\n' 'PRETTY_NAME="Ubuntu 22.04.5 LTS"' VERSION_ID='"22.04"' VERSION_CODENAME=jammy ID=ubuntu ID_LIKE=debian ;;
	fedora) printf '%s\n' 'NAME="Fedora Linux"' ID=fedora VERSION_ID=43 VERSION_CODENAME='""' ;;
	rocky) printf '%s\n' 'NAME="Rocky Linux"' ID='"rocky"' ID_LIKE='"rhel centos fedora"' VERSION_ID='"9.5"' ;;
	tumbleweed) printf '%s\n' 'NAME="openSUSE Tumbleweed"' ID='"opensuse-tumbleweed"' ID_LIKE='"opensuse suse"' ;;
	arch) printf '%s\n' 'NAME="Arch Linux"' ID=arch BUILD_ID=rolling ;;
	*) printf '%s\n' "ID=$1" ;;
	esac >"$SROCE_OS_RELEASE"
}
