# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Valkey over RDMA: its own test, keys of many sizes that are compared, pipelines and many clients, also under loss. A client
# is killed.
# guests: one
# seconds: 240
# parts: valkey
# stages: none
# full: vm-newest-native vm-newest vm-newest-rxe vm-debug vm-6.12
set -euo pipefail
. /share/vm/lib.sh
topology
export LIMIT=120

# The keys have these sizes in bytes, and more between.
sizes="1 2 100 1023 1024 1025 4096 65535 65536 300000 1000000"
keys=300 requests=20000
[[ ! $QUICK ]] || keys=50 requests=2000
# Both ends see the same files.
mkdir -p /tmp/valkey
cli() { "$programs/valkey-cli" --rdma -h "$A_IP" "$@"; }
cli_tcp() { "$programs/valkey-cli" -h "$A_IP" "$@"; }
store() { set -o pipefail && "$1" </tmp/valkey/sets | cmp - /tmp/valkey/replies; }   # PROGRAM
fetch() { set -o pipefail && "$1" </tmp/valkey/gets | cmp - /tmp/valkey/values; }    # PROGRAM
benchmark() { "$programs/valkey-benchmark" --rdma -h "$A_IP" -r 1000 -q "$@"; }
clients_are() { [[ $(cli info clients) == *"connected_clients:$1"[[:space:]]* ]]; }         # COUNT, with its own
no_server() { ! pidof valkey-server; }
export -f cli cli_tcp store fetch benchmark clients_are

# Write commands that store random values, their replies, commands that read them, and the values.
make_commands()
{
	# Pieces of one text, because a guest takes long to start programs.
	head -c 1200000 /dev/urandom | base64 -w 0 | awk -v folder=/tmp/valkey -v sizes="$sizes $(seq -s ' ' 7 131 $((keys * 131)))" '{
		for (count = split(sizes, size); count; count--) {
			value = substr($0, 7 * count, size[count])
			print "SET key:" count, value >(folder "/sets")
			print "OK" >(folder "/replies")
			print "GET key:" count >(folder "/gets")
			print value >(folder "/values")
		}
	}'
}

remember_objects
# The options of Valkey's own test, and TCP.
on_a "$programs/valkey-server" --rdma-port 6379 --rdma-bind "$A_IP" --port 6379 --bind "$A_IP" --protected-mode no --save "" \
	--appendonly no --daemonize yes --dir /tmp/valkey --logfile /tmp/valkey/log
check "the server responds" on_b wait_until 20 cli ping
# It saves the keys in a process that it forks, too.
check "Valkey's own test, four threads" on_b "$programs/rdma-test" --thread 4 -h "$A_IP" -m $((keys * 2)) -M $((keys * 2 + 1))

make_commands
before=$(counter_at a rcvd_bytes)
check "values of 1 byte to 1 MB are stored over RDMA" on_b store cli
check "they have come over RDMA" test $(($(counter_at a rcvd_bytes) - before)) -ge "$(stat -c %s /tmp/valkey/values)"
check "they are the same over RDMA" on_b fetch cli
check "they are the same over TCP" on_b fetch cli_tcp
make_commands
check "values are stored over TCP" on_b store cli_tcp
check "they are the same over RDMA, too" on_b fetch cli

check "20 clients with pipelines" on_b benchmark -n $requests -c 20 -P 16 -d 1000 -t set,get,lpush,lpop
check "100 clients" on_b benchmark -n $((requests / 4)) -c 100 -t ping,incr
check "4 clients, values of 100 KB" on_b benchmark -n $((requests / 20)) -c 4 -P 4 -d 100000 -t set,get
check "the clients are gone" on_b wait_until 20 clients_are 1

on_b benchmark -n 100000000 -c 10 -P 16 -d 1000 -t set >/dev/null 2>&1 &
job=$!
check "ten clients write" on_b wait_until 20 clients_are 11
on_b pkill -KILL valkey-benchma
wait $job || true
check "the server drops clients that are killed" on_b wait_until 30 clients_are 1

# rdma_rxe takes minutes.
if [[ $A_TYPE$B_TYPE == srocesroce ]]; then
	netem loss 1%
	make_commands
	check "1 % loss: values are stored" on_b store cli
	check "1 % loss: they are the same" on_b fetch cli
	check "1 % loss: 20 clients with pipelines" on_b benchmark -n $((requests / 4)) -c 20 -P 16 -d 1000 -t set,get
	check "tails were lost and probed for" test $(($(counter_at a roce_adp_retrans_to) + $(counter_at b roce_adp_retrans_to))) -gt 0
	netem
fi

on_b cli shutdown nosave || true
check "the server ends" wait_until 20 no_server
check "nothing is left" wait_until 20 settled
rm -r /tmp/valkey
