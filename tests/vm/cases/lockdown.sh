# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A kernel that loads signed modules only, as with Secure Boot: "sroce doctor" says so. This needs a
# guest of its own, because only a restart ends the lockdown.
# guests: one
# links: sroce
# seconds: 60
# stages: none
# full: vm-6.12-lockdown
set -euo pipefail
. /share/vm/lib.sh

sroce=$programs/sroce
modules=/lib/modules/$(uname -r)
lockdown=/sys/kernel/security/lockdown
trap leave_topology EXIT
echo "# $CASE on $KERNEL"
modprobe -a ib_uverbs udp_tunnel ip6_udp_tunnel
cp /share/module/sroce.ko "$modules"
depmod
[[ -e $lockdown ]] || mount -t securityfs none /sys/kernel/security
echo integrity >$lockdown
check_fails "the module is rejected" "not permitted|rejected" modprobe sroce
says "the reason" 2 "^fail +module +sroce is not loaded \\(this kernel loads signed modules only: " "$sroce" doctor
says "the command for a key" 2 "^        mokutil --import KEY.der && reboot$" "$sroce" doctor
