# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Trace the calls of small WRITEs. The host finds the files that they cross, and compares them with
# the tables of Documentation/architecture.md; see call_path.host.
# guests: one
# links: sroce
# kernels: 6.12
# seconds: 60
# stages: vm-6.12
# full: none
set -euo pipefail
. /share/vm/lib.sh
topology

tracing=/sys/kernel/debug/tracing
mkdir -p "$keep"
# Softirqs and ip_local_out() are traced because the paths end there.
echo ':mod:sroce' >$tracing/set_ftrace_filter
printf '%s\n' ip_local_out handle_softirqs >>$tracing/set_ftrace_filter
echo 4096 >$tracing/buffer_size_kb
echo global >$tracing/trace_clock
echo 0 >$tracing/tracing_on
echo function_graph >$tracing/current_tracer
echo 0 >$tracing/options/funcgraph-irqs
echo 1 >$tracing/options/funcgraph-proc
echo 1 >$tracing/options/funcgraph-tail
echo 1 >$tracing/tracing_on
# One at a time, each with a completion.
tool "WRITEs flow with tracing" ib_write_bw -x GID -F -s 64 -n 5 -t 1 -Q 1
echo 0 >$tracing/tracing_on
# shellcheck disable=SC2016  # an awk program
check "no event was lost on any CPU" awk '/^overrun:/ { lost += $2; n++ } END { exit !n || lost }' $tracing/per_cpu/cpu*/stats
check "the trace was saved" cp $tracing/trace "$keep/trace"
# Other cases of this guest trace, too.
echo nop >$tracing/current_tracer
echo >$tracing/set_ftrace_filter
echo local >$tracing/trace_clock
echo >$tracing/trace
echo 1 >$tracing/tracing_on
