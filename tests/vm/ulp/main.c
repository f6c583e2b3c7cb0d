// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cd /sys/module/ulp/parameters
 * echo "send_lat|send|write|read FIRST SECOND BYTES CHAIN COUNT" >run
 * cat ns		nanoseconds per message
 * echo "TEST FIRST SECOND ROUNDS" >fast_registration	TEST: exchange, exchange_shared,
 *			stale_keys, deregister_queued or modify
 * echo DEVICE >delay	its queued unregistration does not start before "-" is written
 *
 * Latency is half a round trip, as in perftest.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "ulp.h"

MODULE_DESCRIPTION("measures and tests RDMA devices from inside the kernel");
MODULE_LICENSE("Dual BSD/GPL");

struct known_device {
	struct list_head list;
	struct ib_device *device;
};

/* Permits one run at a time, and no device is removed during a run. */
static DEFINE_MUTEX(one_run);
static LIST_HEAD(devices);
static struct ib_client client;
static u64 last_ns;	/* in 1/100 ns */
static struct ib_device *delayed;

static struct ib_device *find_device(const char *name)
{
	struct known_device *known;

	list_for_each_entry(known, &devices, list) {
		if (!strcmp(dev_name(&known->device->dev), name))
			return known->device;
	}
	return NULL;
}

static int parse(const char *text, struct ulp_run *run, char *kind, char *first, char *second)
{
	if (sscanf(text, "%15s %63s %63s %u %u %u", kind, first, second, &run->bytes, &run->chain,
		   &run->total) != 6)
		return -EINVAL;
	if (!run->bytes || run->bytes > ULP_BYTES_MAX || !run->chain ||
	    run->chain > ULP_CHAIN_MAX || !run->total || run->total % run->chain)
		return -EINVAL;
	if (!strcmp(kind, "write"))
		run->opcode = IB_WR_RDMA_WRITE;
	else if (!strcmp(kind, "read"))
		run->opcode = IB_WR_RDMA_READ;
	else if (!strcmp(kind, "send") || !strcmp(kind, "send_lat"))
		run->opcode = IB_WR_SEND;
	else
		return -EINVAL;
	return 0;
}

static int measure(struct ulp_run *run, const char *text)
{
	char kind[16], first[64], second[64];
	bool latency;
	u64 ns = 0;
	int ret;

	ret = parse(text, run, kind, first, second);
	if (ret)
		return ret;
	latency = !strcmp(kind, "send_lat");
	spin_lock_init(&run->lock);
	init_completion(&run->over);
	run->end[0].device = find_device(first);
	run->end[1].device = find_device(second);
	if (!run->end[0].device || !run->end[1].device)
		return -ENODEV;
	ret = ulp_pair_open(run);
	if (!ret)
		ret = latency ? ulp_ping_pong(run, &ns) : ulp_stream(run, &ns);
	ulp_close(run->end);
	if (!ret)
		last_ns = div_u64(ns * 100, run->total * (latency ? 2 : 1));
	return ret;
}

static int set_run(const char *text, const struct kernel_param *param)
{
	struct ulp_run *run = kzalloc(sizeof(*run), GFP_KERNEL);
	int ret;

	if (!run)
		return -ENOMEM;
	mutex_lock(&one_run);
	last_ns = 0;
	ret = measure(run, text);
	mutex_unlock(&one_run);
	kfree(run);
	return ret;
}

static int get_ns(char *buffer, const struct kernel_param *param)
{
	u32 hundredths;
	u64 whole = div_u64_rem(last_ns, 100, &hundredths);

	return sysfs_emit(buffer, "%llu.%02u\n", whole, hundredths);
}

static const struct {
	const char *name;
	int (*function)(struct ulp_end *ends, u32 rounds);
} tests[] = {
	{ "exchange", ulp_exchange },
	{ "exchange_shared", ulp_exchange_shared },
	{ "stale_keys", ulp_stale_keys },
	{ "deregister_queued", ulp_deregister_queued },
	{ "modify", ulp_modify },
};

static int run_test(const char *text)
{
	char name[32], first[64], second[64];
	struct ulp_end ends[2] = {};
	u32 rounds, i;

	if (sscanf(text, "%31s %63s %63s %u", name, first, second, &rounds) != 4)
		return -EINVAL;
	ends[0].device = find_device(first);
	ends[1].device = find_device(second);
	if (!ends[0].device || !ends[1].device)
		return -ENODEV;
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		if (!strcmp(tests[i].name, name))
			return tests[i].function(ends, rounds);
	}
	return -EINVAL;
}

static int set_fast_registration(const char *text, const struct kernel_param *param)
{
	int ret;

	mutex_lock(&one_run);
	ret = run_test(text);
	mutex_unlock(&one_run);
	return ret;
}

static unsigned long *unregistration_bits(struct ib_device *device)
{
	return work_data_bits(&device->unregistration_work);
}

static void queue_delayed(void)
{
	if (!delayed)
		return;
	clear_bit(WORK_STRUCT_PENDING_BIT, unregistration_bits(delayed));
	ib_unregister_device_queued(delayed);
	put_device(&delayed->dev);
	delayed = NULL;
}

/* A work item that is pending already is not queued. */
static int set_delay(const char *text, const struct kernel_param *param)
{
	char name[64];
	int ret = 0;

	if (sscanf(text, "%63s", name) != 1)
		return -EINVAL;
	mutex_lock(&one_run);
	queue_delayed();
	if (strcmp(name, "-")) {
		delayed = find_device(name);
		if (delayed) {
			get_device(&delayed->dev);
			set_bit(WORK_STRUCT_PENDING_BIT, unregistration_bits(delayed));
		} else {
			ret = -ENODEV;
		}
	}
	mutex_unlock(&one_run);
	return ret;
}

static const struct kernel_param_ops delay_ops = { .set = set_delay };
static const struct kernel_param_ops run_ops = { .set = set_run };
static const struct kernel_param_ops ns_ops = { .get = get_ns };
static const struct kernel_param_ops fast_registration_ops = { .set = set_fast_registration };

module_param_cb(delay, &delay_ops, NULL, 0200);
module_param_cb(run, &run_ops, NULL, 0200);
module_param_cb(ns, &ns_ops, NULL, 0400);
module_param_cb(fast_registration, &fast_registration_ops, NULL, 0200);

static int add_device(struct ib_device *device)
{
	struct known_device *known = kzalloc(sizeof(*known), GFP_KERNEL);

	if (!known)
		return -ENOMEM;
	known->device = device;
	mutex_lock(&one_run);
	list_add(&known->list, &devices);
	mutex_unlock(&one_run);
	ib_set_client_data(device, &client, known);
	return 0;
}

static void remove_device(struct ib_device *device, void *data)
{
	struct known_device *known = data;

	mutex_lock(&one_run);
	list_del(&known->list);
	mutex_unlock(&one_run);
	kfree(known);
}

static struct ib_client client = {
	.name = "ulp",
	.add = add_device,
	.remove = remove_device,
};

static int __init ulp_init(void)
{
	return ib_register_client(&client);
}

static void __exit ulp_exit(void)
{
	ib_unregister_client(&client);
}

module_init(ulp_init);
module_exit(ulp_exit);
