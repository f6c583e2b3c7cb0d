# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The commands and manifests of howto/containers.md. The "docker" is a program of ours (vm/guest/docker) over
# crun: no Docker, Podman or kubelet runs. Then containers without the device's file, memory, or right to it, and
# that die under traffic. User-mode Linux lacks what crun needs (BPF for devices) and the cgroup of RDMA.
# guests: one
# links: sroce
# kernels: 6.1 6.12
# seconds: 180
# stages: none
# full: vm-6.12-sizes vm-6.1
set -euo pipefail
. /share/vm/lib.sh
. /share/vm/fake_build.sh
. /share/vm/page.sh
topology none
page=/share/repo/howto/containers.md
export containers=/run/containers keep stubs=$keep/stubs
mkdir -p $containers/root "$stubs"
mount --bind / $containers/root   # the images' root: this guest's, without what is mounted there
mount -t cgroup2 none /sys/fs/cgroup
ln -s /share/vm/guest/docker "$stubs/docker"
PATH=$stubs:$PATH
docker() { timeout $((30 * TIME_FACTOR)) "$stubs/docker" "$@"; }
cd /share/repo
fake_sources
fake_build
mkdir -p build/userlib /usr/src /usr/lib/linux-kbuild-6.12 /run/sroce-up
cp "$programs"/libsroce-rdmav*.so build/userlib/
ip netns delete a
ip netns delete b

leave_case()
{
	local name
	for name in $(crun list -q); do
		docker rm -f "$name"
	done
	wait_until 10 umount -l $containers/root
	umount /sys/fs/cgroup
}

# Run a block of the page.
block() # NAME
(
	local text
	text=$(page_block "$page" "$1") || return
	# shellcheck disable=SC2317  # the page calls it
	sleep() { command sleep $(($1 * 3)); }   # until a server listens; emulated kernels are slow
	export -f sleep
	chrt -i 0 bash -e -c "$text"
)

# ibv_rc_pingpong prints what it finds wrong in the data, and succeeds.
both_providers()
{
	block native | tee "$keep/native" || return
	! grep "invalid data" "$keep/native"
}

join=(--network container:lab)
server_listens() { on_lab ss -Hltn "sport = :18515" | grep .; }
on_lab() { nsenter -n -t "$(docker inspect -f '{{.State.Pid}}' lab)" "$@"; }
traffic_flows() { (($(counter rxe0 rcvd_pkts) > $1 + 1000)); }
qps() { rdma resource show qp link "$1" | grep -c "type RC" || true; }
no_qp() { [[ $(qps "$1") == 0 ]]; }
stream() # [OPTION]...: an endless WRITE from the host to a container; sets client
{
	local packets
	docker run -d --name server "${join[@]}" --device /dev/infiniband/uverbs1 --ulimit memlock=67108864 "$@" verbs ib_write_bw -d rxe1 -x 1 -F -s 65536 -D 60
	wait_until 10 server_listens
	packets=$(counter rxe0 rcvd_pkts)
	ib_write_bw -d rxe0 -x 1 -F -s 65536 -D 60 172.30.0.2 >/dev/null 2>&1 &
	client=$!
	wait_until 15 traffic_flows "$packets"
}
ends() { ! kill -0 "$1" 2>/dev/null; }
dies()
{
	docker rm -f server
	wait_until 10 no_qp rxe1 && wait_until 30 ends $client && no_qp rxe0
}
no_device() { [[ ! -e /sys/class/infiniband/$1 ]]; }

# --- more, with --full --------------------------------------------------------------------------------

more()
{
	local provider
	check "our provider is used" docker run --rm "${join[@]}" --device /dev/infiniband/uverbs1 -v "$PWD/build/userlib:/userlib:ro" -e IBV_DRIVERS=/userlib/libsroce verbs \
		sh -c 'ibv_devinfo -v -d rxe1 | grep -w XRC'
	check "the image has none" docker run --rm "${join[@]}" --device /dev/infiniband/uverbs1 verbs sh -c 'ibv_devinfo -v -d rxe1 | grep ACTIVE && ! ibv_devinfo -v -d rxe1 | grep -w XRC'
	says "a pingpong without the file" 1 "not found" docker run --rm "${join[@]}" verbs ibv_rc_pingpong -d rxe1
	says "a pingpong and the device cgroup" 1 "Couldn't get context" docker run --rm "${join[@]}" "${all_devices[@]}" verbs ibv_rc_pingpong -d rxe1
	says "the errno of the device cgroup" 2 "Operation not permitted" docker run --rm "${join[@]}" "${all_devices[@]}" verbs sh -c ': <>/dev/infiniband/uverbs1'
	says "another device than the one given" 1 "Failed to open device" docker run --rm "${join[@]}" "${all_devices[@]}" --device /dev/infiniband/uverbs1 verbs ibv_devinfo -d rxe0
	says "too little memory" 1 "Couldn't register MR" docker run --rm "${join[@]}" --device /dev/infiniband/uverbs1 --ulimit memlock=65536 verbs ibv_rc_pingpong -d rxe1 -g 1 -s 1048576
	if [[ -x $programs/sroce ]]; then
		says "doctor says it" 2 "in a container: start it with --device /dev/infiniband/uverbs1" docker run --rm "${join[@]}" -v /share:/share verbs "$programs/sroce" doctor
		limit() { docker run --rm "${join[@]}" -v /share:/share --device /dev/infiniband/uverbs1 verbs "$programs/sroce" doctor; }
		says "doctor knows the limit of root without capabilities" 1 "may lock 8 MiB" limit
	fi

	docker run -d --name pod --network lab --ip 172.30.0.3 --device /dev/infiniband/uverbs0 --device /dev/infiniband/rdma_cm verbs ibv_rc_pingpong -e -c -d rxe0 -g 1
	check "the host's device in another namespace" wait_until 10 docker run --rm "${join[@]}" --device /dev/infiniband/uverbs1 verbs ibv_rc_pingpong -e -c -d rxe1 -g 1 172.30.0.3
	docker rm -f pod
	says "it has none for rdma_cm" 255 "bind_addr|No such device" docker run --rm --network lab --ip 172.30.0.3 --device /dev/infiniband/uverbs0 --device /dev/infiniband/rdma_cm verbs \
		rping -s -a 172.30.0.3 -C 1

	cat >"/srv/count_qps" <<'END2'
from pyverbs.device import Context
from pyverbs.pd import PD
from pyverbs.cq import CQ
from pyverbs.qp import QP, QPCap, QPInitAttr
from pyverbs.pyverbs_error import PyverbsRDMAError
context = Context(name="rxe1")
pd, cq, qps = PD(context), CQ(context, 16), []
try:
    while True:
        qps.append(QP(pd, QPInitAttr(scq=cq, rcq=cq, cap=QPCap(1, 1, 1, 1))))
except PyverbsRDMAError as error:
    print(len(qps), "QPs", error.error_code, flush=True)
END2
	count_qps() { docker run --rm --cgroup-parent limited.slice "${join[@]}" --device /dev/infiniband/uverbs1 verbs python3 "/srv/count_qps"; }
	current() { cat /sys/fs/cgroup/limited.slice/rdma.current; }
	check "limited containers" block limit
	says "it can make 18 QPs" 0 "^18 QPs 11$" count_qps
	says "they are given back" 0 "^rxe1 hca_handle=0 hca_object=0" current
	says "it can again" 0 "^18 QPs 11$" count_qps
	docker rm -f limited
	for provider in "" "-v $PWD/build/userlib:/userlib:ro -e IBV_DRIVERS=/userlib/libsroce"; do
		# shellcheck disable=SC2086
		stream $provider
		check "the container has a QP" test "$(qps rxe1)" = 1
		check "it dies under traffic ${provider:+in native mode}" dies
		check "nothing is left" wait_until 10 settled
	done
}

# --- the page -----------------------------------------------------------------------------------------

check "the device is attached in the container's namespace" block attach
[[ -e /sys/class/infiniband/rxe1 ]]
remember_objects
check "rping to the host, data verified" block rping
check "librxe and our provider on one device, data verified" both_providers
all_devices=(-v /dev/infiniband:/dev/infiniband)
says "without the file" 255 "IB device 'rxe1' wasn't found" docker run --rm "${join[@]}" verbs ibv_devinfo -d rxe1
says "the device cgroup denies it" 1 "Failed to open device" docker run --rm "${join[@]}" "${all_devices[@]}" verbs ibv_devinfo -d rxe1
[[ $QUICK ]] || more
stream
check "a container dies under traffic" dies
docker run -d --name server "${join[@]}" --device /dev/infiniband/uverbs1 verbs ibv_rc_pingpong -d rxe1 -g 1
wait_until 10 server_listens
[[ $(qps rxe1) == 1 ]]
check "the page's end, while a container has a QP" block remove
check "the device goes with the network's container" wait_until 10 no_device rxe1
docker rm -f server
[[ ! $QUICK ]] || exit 0
rmmod sroce

# --- exclusive mode -----------------------------------------------------------------------------------

exclusive()
{
	wait_until 10 rdma system set netns exclusive || return
	docker run -d --name lab --network lab --ip 172.30.0.2 verbs sleep infinity
	modprobe -a ib_uverbs udp_tunnel ip6_udp_tunnel
	insmod /share/module/sroce.ko
	on_lab rdma link add rxe1 type sroce netdev eth0 || return
	no_device rxe1 && docker run --rm "${join[@]}" --device /dev/infiniband/uverbs0 verbs ibv_devinfo -d rxe1 | grep ACTIVE
}
check "exclusive mode" exclusive
docker rm -f lab
rmmod sroce
check "shared mode" wait_until 10 rdma system set netns shared

# --- Kubernetes ---------------------------------------------------------------------------------------

ip netns add b
ip link add eth0 type veth peer name eth_b netns b
address_add eth0 10.0.0.1 fd00::1
printf '%s\n' /share/repo:/sroce /share:/share "$stubs:/usr/local/bin" >$containers/loader
in_namespace b ip link set lo up
ip -n b address add 10.0.0.2/24 dev eth_b
ip -n b link set eth_b up
peer()
{
	local pods
	docker pods "$page" & pods=$!
	wait_until 30 listens_or_ended $pods && listens ib_write_bw || return
	ip netns exec b rdma link add peer type sroce netdev eth_b
	ip netns exec b ib_write_bw -R -n 100 -s 65536 10.0.0.1
	wait $pods
}
listens_or_ended() { listens ib_write_bw || ends "$1"; }
check "the pods of the page, and a peer" peer
check "the module is the pod's" grep -q "^module module-" /run/sroce-up/up
