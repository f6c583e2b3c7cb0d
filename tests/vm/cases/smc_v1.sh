# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# SMC-R, version 1, which needs GIDs of RoCE v1: stream sockets whose data bypass TCP, every byte echoed.
# guests: two
# links: sroce
# kernels: 6.12
# seconds: 300
# stages: none
# full: vm-6.12-two
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/ulp.sh
topology none
version=_v1
on_a link_add "$A_DEV" "sroce$version" "$A_IF"
on_b link_add "$B_DEV" "sroce$version" "$B_IF"
on_a wait_for_gid "$A_DEV" "$A_IP"
on_b wait_for_gid "$B_DEV" "$B_IP"
on_b wait_until 10 ping -c 1 -W 1 "$A_IP"
remember_ends

# Without an EID there is no version 2.
serve() { modprobe smc && { [[ -e /tmp/echo.pid ]] || start_echo smc; }; }
stop_serving() { stop_echo; end_modules smc_diag smc; }
connect() { modprobe smc; }
disconnect() { end_modules smc_diag smc; }
transfer() { on_b /share/vm/guest/ulp_socket smc send "$B_IP" "$A_IP" 2; }
traffic() { /share/vm/guest/ulp_socket smc traffic "$B_IP" "$A_IP"; }
export -f serve stop_serving connect disconnect traffic

declines=yes
ulp_checks 400
