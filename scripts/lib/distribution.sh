# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The distribution of this machine: its names of packages, and its command to install them.

# The value of a variable in os-release, which is not a script to run.
os_variable() { sed -n "s/^$1=//p" "${SROCE_OS_RELEASE:-/etc/os-release}" 2>/dev/null | tr -d "\"'" || true; } # NAME

# Print debian, ubuntu, fedora (also its relatives such as RHEL), suse or arch, or nothing.
distribution()
{
	local word
	for word in $(os_variable ID) $(os_variable ID_LIKE); do
		case $word in
		debian | ubuntu | fedora | suse | arch) echo "$word"; return ;;
		rhel | centos) echo fedora; return ;;
		esac
	done
}

# The codename of the release, such as bookworm. That of sid is its successor's.
codename() { os_variable VERSION_CODENAME; }

# The one command, for root, that installs these packages
install_command() # PACKAGE...
{
	case $(distribution) in
	debian | ubuntu) echo "apt-get install $*" ;;
	fedora) echo "dnf install $*" ;;
	suse) echo "zypper install $*" ;;
	arch) echo "pacman -S $*" ;;
	*) echo "install $*, as this distribution names them" ;;
	esac
}

# The package with the headers of this kernel
headers_package() # RELEASE
{
	local base=/lib/modules/$1/pkgbase
	case $(distribution) in
	debian | ubuntu) echo "linux-headers-$1" ;;
	fedora) echo "kernel-devel-$1" ;;
	suse) echo "kernel-${1##*-}-devel" ;;
	arch) echo "$([[ -r $base ]] && cat "$base" || echo linux)-headers" ;;
	*) echo "the headers of kernel $1" ;;
	esac
}

# The package with those modules of this kernel that its main package lacks, if there is one
modules_package() # RELEASE
{
	case $(distribution) in
	ubuntu) echo "linux-modules-extra-$1" ;;
	fedora) echo "kernel-modules-$1" ;;
	esac
}

# The package with the commands ip and rdma
iproute_package() { [[ $(distribution) == fedora ]] && echo iproute || echo iproute2; }
