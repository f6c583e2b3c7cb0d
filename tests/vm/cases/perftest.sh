# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Unmodified perftest: every operation, at MTU 1024 and 4096, over sockets and over rdma_cm.
# guests: any
# seconds: 150
# stages: vm-newest vm-newest-rxe vm-newest-native
# full: vm-debug vm-6.12 vm-6.1 vm-6.12-two vm-debug-native vm-debug-rxe vm-6.12-two-rxe vm-6.1-two-rxe
set -euo pipefail
. /share/vm/lib.sh
MTU=4500 topology

# With -R the server of perftest listens a second time after a handshake, and the client does not try
# again. If pollers yield, the client may be first on one CPU. Do it again if it was, and so was
# rejected, or as a datagram unreachable.
over_rdma_cm() # NAME PROGRAM OPTION...
{
	local try
	for try in {1..5}; do
		if SROCE_POLL_YIELD=0 talk "$2" -d "$A_DEV" "${@:3}" -R -- "$2" -d "$B_DEV" "${@:3}" -R "$A_IP"; then
			ok "$1"
			return
		fi
		[[ $pair_output =~ RDMA_CM_EVENT_(REJECTED|UNREACHABLE) ]] || break
		echo "# $1: the client was first, $try times"
	done
	not_ok "$1" "$pair_report"
}

# -F: do not check the CPU frequency. -I 0: perftest allows no inline data for an unknown vendor ID.
for mtu in 1024 4096; do
	for program in ib_write_bw ib_read_bw ib_send_bw; do
		tool "$program 64 KiB, MTU $mtu" $program -x GID -F -m $mtu -s 65536 -n 64
	done
done
tool "ib_write_bw 1 MiB, two QPs, both directions" ib_write_bw -x GID -F -s 1048576 -n 8 -q 2 -t 8 -b
tool "ib_send_bw with events" ib_send_bw -x GID -F -s 4096 -n 64 -e
tool "ib_atomic_bw FETCH_AND_ADD" ib_atomic_bw -x GID -F -n 200 -A FETCH_AND_ADD
tool "ib_atomic_bw CMP_AND_SWAP" ib_atomic_bw -x GID -F -n 200 -A CMP_AND_SWAP
over_rdma_cm "ib_write_bw over rdma_cm" ib_write_bw -F -s 65536 -n 64

# The options, in every transport. perftest rejects -e with WRITE, and -R with UC and XRC. For a device
# that it does not know, it makes --inline_size 0. With -e, -l, -q and -b together it waits for an event
# for ever, between devices of rdma_rxe, too.
transports=(RC UC UD)
[[ $MODE$A_TYPE$B_TYPE != nativesrocesroce ]] || transports+=(XRC)
for transport in "${transports[@]}"; do
	for verb in send write read atomic; do
		[[ $transport-$verb != @(U[CD]-read|U[CD]-atomic|UD-write) ]] || continue
		work=(-F -c "$transport" -n 100)
		[[ $verb == atomic ]] || work+=(-s 64)
		options=(-q 16 -l 10 -b -S 2)
		tool "ib_${verb}_bw $transport ${options[*]}" "ib_${verb}_bw" "${work[@]}" -x GID "${options[@]}"
		[[ $verb == write ]] || tool "ib_${verb}_bw $transport -e -l 10" "ib_${verb}_bw" "${work[@]}" -x GID -e -l 10
		[[ $transport != @(RC|UD) || $verb == atomic ]] || over_rdma_cm "ib_${verb}_bw $transport -R" "ib_${verb}_bw" "${work[@]}"
		# Cases uc and xrc have the others.
		[[ $transport == @(RC|UD) ]] || continue
		options=(-S 2)
		[[ $verb != @(send|write) ]] || options+=(-I 0)
		[[ $verb != send ]] || options+=(-e)
		tool "ib_${verb}_lat $transport ${options[*]}" "ib_${verb}_lat" "${work[@]}" -x GID "${options[@]}"
	done
done
