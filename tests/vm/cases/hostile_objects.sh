# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# An unprivileged process creates thousands of objects of each kind, and all address handles that
# the device has. The error is clear, another tenant connects QPs and keeps 0.8 of the rate of its
# traffic, and all is back when the process has been killed. Then 10,000 connections come and go,
# and R_Keys are guessed: also the right key is useless in another protection domain.
# guests: one
# links: sroce-sroce
# kernels: newest
# seconds: 400
# stages: vm-newest-hostile
# full: none
set -euo pipefail
. /share/vm/lib.sh
topology
. /share/vm/hostile.sh
export LIMIT=300

both=(--gid "$B_GID" --peer-gid "$A_GID")
job() { on_b as_nobody bash -c 'ulimit -l unlimited; exec "$@"' job "${abuse[@]}" "${both[@]}" --job "$@"; }
# Bytes per second of another tenant: the best of five runs, because a busy host only makes them
# slower. Fails unless all data is right.
rate_of_tenant()
{
	local rates=''
	for _ in 1 2 3 4 5; do
		start_tenant 2 && finish_tenant >&2 || return 1
		rates+="$tenant_rate "
	done
	tr ' ' '\n' <<<"$rates" | sort -n | tail -n 1
}
over() { grep -q 'all created\|^not ok\|^Bail' /tmp/exhaust; }

tap "warm-up" job cycle --count 100
before=$(rate_of_tenant)
remember_state
job exhaust --count 10000 >/tmp/exhaust 2>&1 &
exhaust=$!
wait_until 200 over || true
sed 's/^/# /' /tmp/exhaust
check "all objects were created, up to a clear error" grep -q 'all created' /tmp/exhaust
check "the process was told that there are no more address handles" grep -q 'AHs, of .*(' /tmp/exhaust
meanwhile=$(rate_of_tenant) || meanwhile=0
tap "another tenant creates QPs meanwhile" job cycle --count 10
pkill -KILL -x abuse || true
wait $exhaust || true
check_state "after the process was killed"
after=$(rate_of_tenant)
check "beside the objects another tenant has $meanwhile B/s, 0.8 of $before before and $after after" \
	test $((10 * meanwhile)) -ge $((4 * (before + after)))
tap "10,000 connections" job cycle --count 10000
check_state "after 10,000 connections"
rejected=$(counter "$A_DEV" resp_remote_access_errors)
tap "guessed keys" job keys --count 3000
check "each was counted" test $(($(counter "$A_DEV" resp_remote_access_errors) - rejected)) -eq 3003
check_state "after guessed keys"
