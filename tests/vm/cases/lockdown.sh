# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Secure Boot: the kernel loads only modules that are signed with a key that the firmware trusts.
# "sroce doctor" says so, and the commands that it prints sign the module. A guest of its own has
# such firmware.
# guests: one
# links: sroce
# kernels: 6.12
# firmware: secure-boot
# seconds: 90
# parts: secure-boot
# stages: none
# full: vm-6.12-lockdown
set -euo pipefail
. /share/vm/lib.sh

sroce=$programs/sroce
modules=/lib/modules/$(uname -r)
[[ -e /sys/kernel/security/lockdown ]] || mount -t securityfs none /sys/kernel/security
trap leave_topology EXIT
echo "# $CASE on $KERNEL"
check "the firmware has locked the kernel down" grep -F '[integrity]' /sys/kernel/security/lockdown
modprobe -a ib_uverbs udp_tunnel ip6_udp_tunnel
mkdir -p "$modules/build/scripts" /var/lib/dkms
cp "$programs/sign-file" "$modules/build/scripts/"
install_module() # without a signature
{
	cp /share/module/sroce.ko "$modules"
	depmod
}
cure() { { "$sroce" doctor || true; } | awk '/^fail +module/ { getline; sub(/^ */, ""); print }'; } # the first command
refused="not permitted|rejected|Required key"

install_module
check_fails "a module without a signature is refused" "$refused" modprobe sroce
says "the reason" 2 "^fail +module +sroce is not loaded: it has no signature \\(this kernel loads signed modules only: " "$sroce" doctor
check "the command that signs it" test "$(cure)" = "$modules/build/scripts/sign-file sha256 KEY.pem CERTIFICATE.der $modules/sroce.ko && modprobe sroce"
says "the command for an unknown key" 2 "^        if the kernel does not know the key: mokutil --import CERTIFICATE.der && reboot$" "$sroce" doctor

command=$(cure)
command=${command/KEY.pem/"$programs/other.key"}
check_fails "the kernel does not know the key" "$refused" bash -c "${command/CERTIFICATE.der/"$programs/other.der"}"
check "the module has a signature now" grep -c "Module signature appended" "$modules/sroce.ko"
says "the reason" 2 "^fail +module +sroce is not loaded \\(this kernel loads signed modules only: " "$sroce" doctor
says "the command for its key" 2 "^        if the kernel does not know the key of its signature: mokutil --import CERTIFICATE.der && reboot$" "$sroce" doctor

cp "$programs/trusted.key" /var/lib/dkms/mok.key
cp "$programs/trusted.der" /var/lib/dkms/mok.pub
says "the key of DKMS" 2 "mokutil --import /var/lib/dkms/mok.pub && reboot$" "$sroce" doctor
install_module
command=$(cure)
check "the command signs the module with a key that the firmware knows, and loads it: $command" bash -c "$command"
check "the module is loaded" grep -q "^sroce " /proc/modules
topology
tool "a pingpong under Secure Boot" ibv_rc_pingpong -g GID -n 50 -c
