# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# SMC-R, version 2: stream sockets whose data bypass TCP, every byte echoed.
# guests: two
# links: any
# kernels: 6.12
# seconds: 240
# stages: none
# full: vm-6.12-two
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/ulp.sh
topology
remember_ends

serve()
{
	modprobe smc
	/share/vm/guest/ulp_socket smc name
	[[ -e /tmp/echo.pid ]] || start_echo smc
}
stop_serving() { stop_echo; end_modules smc_diag smc; }
connect() { modprobe smc && /share/vm/guest/ulp_socket smc name; }
disconnect() { end_modules smc_diag smc; }
# A connection without a device becomes one of TCP.
transfer() { on_b /share/vm/guest/ulp_socket smc send "$B_IP" "$A_IP" 2; }
traffic() { /share/vm/guest/ulp_socket smc traffic "$B_IP" "$A_IP"; }
export -f serve stop_serving connect disconnect traffic

declines=yes
ulp_checks 400
