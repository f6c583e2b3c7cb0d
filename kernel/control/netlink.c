// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The generic netlink family "sroce" (uapi/sroce_netlink.h): parameters of
 * devices read and set. Queue pairs are shown by netlink_qp.c.
 *
 * Handlers run under genl's lock, one at a time. A device is kept while it is
 * looked at, and given back before a dump goes on in another message: a dump
 * remembers the index of the device, never the device.
 */
#include "compat/compat.h"
#include "control/attach.h"
#include "control/netlink.h"

/* A device with all its parameters; more than a page leaves for a message. */
#define DEVICE_MSG_BYTES	8192

/* Parameters as they are shown: the algorithm is called "cc", and two are the device's. */
enum {
	PARAM_CC,
	PARAM_ECN,
	PARAM_SELECTIVE,
	PARAM_OTHERS,
	/* The algorithm is in sroce_cc_param_table, too. */
	PARAM_COUNT = PARAM_OTHERS + SROCE_CC_PARAM_COUNT - 1,
};

static const struct sroce_cc_param switches[] = {
	[PARAM_ECN] = { .name = "ecn", .max = 1, .initial = 1, .unit = "" },
	[PARAM_SELECTIVE] = { .name = "selective", .max = 1, .initial = 1, .unit = "" },
};

static u32 cc_index(u32 param)
{
	return param == PARAM_CC ? 0 : param - PARAM_OTHERS + 1;
}

static const struct sroce_cc_param *describe_param(u32 param)
{
	if (param == PARAM_ECN || param == PARAM_SELECTIVE)
		return &switches[param];
	return &sroce_cc_param_table[cc_index(param)];
}

static const char *name_of(u32 param)
{
	return param == PARAM_CC ? "cc" : describe_param(param)->name;
}

static u32 value_of(const struct sroce_device *dev, u32 param)
{
	switch (param) {
	case PARAM_ECN:
		return READ_ONCE(dev->ecn);
	case PARAM_SELECTIVE:
		return READ_ONCE(dev->selective);
	default:
		return sroce_cc_param_get(&dev->cc, cc_index(param));
	}
}

static void set_value(struct sroce_device *dev, u32 param, u32 value)
{
	switch (param) {
	case PARAM_ECN:
		WRITE_ONCE(dev->ecn, value);
		break;
	case PARAM_SELECTIVE:
		WRITE_ONCE(dev->selective, value);
		break;
	default:
		sroce_cc_param_set(&dev->cc, cc_index(param), value);
	}
}

/* --- reading --------------------------------------------------------------------- */

static int put_choices(struct sk_buff *skb)
{
	u32 i;

	for (i = 0; i < SROCE_CC_ALGORITHM_COUNT; i++)
		if (nla_put_string(skb, SROCE_A_PARAM_CHOICE, sroce_cc_algorithm_name(i)))
			return -EMSGSIZE;
	return 0;
}

static int put_param(struct sk_buff *skb, const struct sroce_device *dev, u32 param)
{
	const struct sroce_cc_param *desc = describe_param(param);
	struct nlattr *nest = nla_nest_start(skb, SROCE_A_PARAM);

	if (!nest ||
	    nla_put_string(skb, SROCE_A_PARAM_NAME, name_of(param)) ||
	    nla_put_u32(skb, SROCE_A_PARAM_VALUE, value_of(dev, param)) ||
	    nla_put_u32(skb, SROCE_A_PARAM_MIN, desc->min) ||
	    nla_put_u32(skb, SROCE_A_PARAM_MAX, desc->max) ||
	    nla_put_u32(skb, SROCE_A_PARAM_DEFAULT, desc->initial))
		return -EMSGSIZE;
	if (*desc->unit && nla_put_string(skb, SROCE_A_PARAM_UNIT, desc->unit))
		return -EMSGSIZE;
	if (param == PARAM_CC && put_choices(skb))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * sroce_netlink_put_device() - say which device a message is about
 * @skb: the message
 * @dev: device
 *
 * Return: 0 or -EMSGSIZE.
 */
int sroce_netlink_put_device(struct sk_buff *skb, const struct sroce_device *dev)
{
	if (nla_put_u32(skb, SROCE_A_DEV_INDEX, dev->ibdev.index) ||
	    nla_put_string(skb, SROCE_A_DEV_NAME, dev->ibdev.name))
		return -EMSGSIZE;
	return 0;
}

static int put_all_of(struct sk_buff *skb, const struct sroce_device *dev)
{
	u64 line_rate = READ_ONCE(dev->line_rate);
	u32 param;
	int err;

	err = sroce_netlink_put_device(skb, dev);
	if (!err && line_rate)
		err = nla_put_u64_64bit(skb, SROCE_A_LINE_RATE, line_rate, SROCE_A_PAD);
	for (param = 0; !err && param < PARAM_COUNT; param++)
		err = put_param(skb, dev, param);
	return err;
}

static struct sroce_device *get_by_name(const struct net *net, const struct nlattr *name)
{
	struct sroce_device *dev;
	u32 index = 0;

	while ((dev = sroce_device_get_next(net, index))) {
		if (!nla_strcmp(name, dev->ibdev.name))
			return dev;
		index = dev->ibdev.index + 1;
		sroce_device_put(dev);
	}
	return NULL;
}

static struct sroce_device *get_requested(struct genl_info *info)
{
	struct nlattr *name = info->attrs[SROCE_A_DEV_NAME];
	struct sroce_device *dev;

	if (GENL_REQ_ATTR_CHECK(info, SROCE_A_DEV_NAME))
		return ERR_PTR(-EINVAL);
	dev = get_by_name(genl_info_net(info), name);
	if (!dev) {
		NL_SET_ERR_MSG_ATTR(info->extack, name, "no sroce device of this name");
		return ERR_PTR(-ENODEV);
	}
	return dev;
}

static struct genl_family family;

static int dev_get(struct sk_buff *request, struct genl_info *info)
{
	struct sroce_device *dev = get_requested(info);
	struct sk_buff *skb;
	void *header;
	int err = -ENOMEM;

	if (IS_ERR(dev))
		return PTR_ERR(dev);
	skb = genlmsg_new(DEVICE_MSG_BYTES, GFP_KERNEL);
	if (!skb)
		goto out;
	header = genlmsg_put_reply(skb, info, &family, 0, SROCE_CMD_DEV_GET);
	err = header ? put_all_of(skb, dev) : -EMSGSIZE;
	if (err) {
		nlmsg_free(skb);
		goto out;
	}
	genlmsg_end(skb, header);
	err = genlmsg_reply(skb, info);
out:
	sroce_device_put(dev);
	return err;
}

/* --- dumps ----------------------------------------------------------------------- */

/* In netlink_callback.args: where the dump goes on. */
enum {
	DUMP_INDEX,		/* of the device */
	DUMP_QPN,		/* of its QP */
};

static void *dump_header(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &family,
			   NLM_F_MULTI, cmd);
}

static int dump_start(struct netlink_callback *cb)
{
	const struct nlattr *name = genl_info_dump(cb)->attrs[SROCE_A_DEV_NAME];
	struct sroce_device *dev;

	cb->min_dump_alloc = DEVICE_MSG_BYTES;
	if (!name)
		return 0;
	dev = get_by_name(sock_net(cb->skb->sk), name);
	if (!dev)
		return -ENODEV;
	sroce_device_put(dev);
	return 0;
}

static int dump_device(struct sk_buff *skb, struct netlink_callback *cb,
		       struct sroce_device *dev)
{
	void *header = dump_header(skb, cb, SROCE_CMD_DEV_GET);

	if (!header)
		return -EMSGSIZE;
	if (put_all_of(skb, dev)) {
		genlmsg_cancel(skb, header);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, header);
	return 0;
}

static int dump_qps(struct sk_buff *skb, struct netlink_callback *cb, struct sroce_device *dev)
{
	u32 qpn = cb->args[DUMP_QPN];
	void *header;
	int err;

	do {
		header = dump_header(skb, cb, SROCE_CMD_QP_GET);
		if (!header)
			return -EMSGSIZE;
		err = sroce_netlink_put_qp(skb, dev, &qpn);
		if (err) {
			genlmsg_cancel(skb, header);
			break;
		}
		genlmsg_end(skb, header);
		cb->args[DUMP_QPN] = ++qpn;
	} while (true);
	return err == -ENOENT ? 0 : err;
}

static int dump_devices(struct sk_buff *skb, struct netlink_callback *cb,
			int (*dump_one)(struct sk_buff *skb, struct netlink_callback *cb,
					struct sroce_device *dev))
{
	const struct nlattr *name = genl_info_dump(cb)->attrs[SROCE_A_DEV_NAME];
	struct sroce_device *dev;
	int err = 0;

	while (!err && (dev = sroce_device_get_next(sock_net(skb->sk), cb->args[DUMP_INDEX]))) {
		/* Its QPs are none of those of the device where the dump stopped. */
		if (dev->ibdev.index != cb->args[DUMP_INDEX])
			cb->args[DUMP_QPN] = 0;
		cb->args[DUMP_INDEX] = dev->ibdev.index;
		if (!name || !nla_strcmp(name, dev->ibdev.name))
			err = dump_one(skb, cb, dev);
		if (!err) {
			cb->args[DUMP_INDEX]++;
			cb->args[DUMP_QPN] = 0;
		}
		sroce_device_put(dev);
	}
	return skb->len ?: err;
}

static int dev_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_devices(skb, cb, dump_device);
}

static int qp_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return dump_devices(skb, cb, dump_qps);
}

/* --- setting --------------------------------------------------------------------- */

/* Short enough for the texts below: an extended ack has 80 bytes. */
#define NAME_BYTES	47

static const struct nla_policy param_policy[SROCE_A_PARAM_MAX_ATTR + 1] = {
	[SROCE_A_PARAM_NAME] = { .type = NLA_NUL_STRING, .len = NAME_BYTES },
	[SROCE_A_PARAM_VALUE] = { .type = NLA_U32 },
	[SROCE_A_PARAM_TEXT] = { .type = NLA_NUL_STRING, .len = NAME_BYTES },
};

static const struct nla_policy get_policy[SROCE_A_DEV_NAME + 1] = {
	[SROCE_A_DEV_NAME] = { .type = NLA_NUL_STRING, .len = IB_DEVICE_NAME_MAX - 1 },
};

static const struct nla_policy set_policy[SROCE_A_PARAM + 1] = {
	[SROCE_A_DEV_NAME] = { .type = NLA_NUL_STRING, .len = IB_DEVICE_NAME_MAX - 1 },
	[SROCE_A_PARAM] = NLA_POLICY_NESTED(param_policy),
};

static int find_param(const struct nlattr *name, u32 *param, struct netlink_ext_ack *extack)
{
	for (*param = 0; *param < PARAM_COUNT; ++*param)
		if (!nla_strcmp(name, name_of(*param)))
			return 0;
	compat_extack_about(extack, nla_data(name), ": no such parameter");
	return -EINVAL;
}

static int find_algorithm(const struct nlattr *text, u32 *value, struct netlink_ext_ack *extack)
{
	for (*value = 0; *value < SROCE_CC_ALGORITHM_COUNT; ++*value)
		if (!nla_strcmp(text, sroce_cc_algorithm_name(*value)))
			return 0;
	compat_extack_about(extack, nla_data(text), ": no such congestion control");
	return -EINVAL;
}

static int check_range(u32 param, u32 value, struct netlink_ext_ack *extack)
{
	const struct sroce_cc_param *desc = describe_param(param);

	if (value >= desc->min && value <= desc->max)
		return 0;
	compat_extack_about(extack, name_of(param), ": %u is not in %u to %u", value,
			    desc->min, desc->max);
	return -ERANGE;
}

static int parse_value(struct nlattr **tb, u32 param, u32 *value, struct netlink_ext_ack *extack)
{
	const struct nlattr *text = tb[SROCE_A_PARAM_TEXT];

	if (!text == !tb[SROCE_A_PARAM_VALUE]) {
		compat_extack_about(extack, name_of(param), ": either a number or a text");
		return -EINVAL;
	}
	if (!text) {
		*value = nla_get_u32(tb[SROCE_A_PARAM_VALUE]);
		return check_range(param, *value, extack);
	}
	if (param != PARAM_CC) {
		compat_extack_about(extack, name_of(param), ": takes a number");
		return -EINVAL;
	}
	return find_algorithm(text, value, extack);
}

static int parse_param(const struct nlattr *nest, u32 *param, u32 *value,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[SROCE_A_PARAM_MAX_ATTR + 1];
	int err;

	err = nla_parse_nested(tb, SROCE_A_PARAM_MAX_ATTR, nest, param_policy, extack);
	if (err)
		return err;
	if (!tb[SROCE_A_PARAM_NAME]) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "a parameter without a name");
		return -EINVAL;
	}
	err = find_param(tb[SROCE_A_PARAM_NAME], param, extack);
	return err ?: parse_value(tb, *param, value, extack);
}

/* Checks all, and with @dev sets all: the second time nothing can fail. */
static int set_params(struct genl_info *info, struct sroce_device *dev)
{
	const struct nlattr *attr;
	u32 param, value;
	int rem, err;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != SROCE_A_PARAM)
			continue;
		err = parse_param(attr, &param, &value, info->extack);
		if (err)
			return err;
		if (dev)
			set_value(dev, param, value);
	}
	return 0;
}

static int dev_set(struct sk_buff *skb, struct genl_info *info)
{
	struct sroce_device *dev;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, SROCE_A_PARAM))
		return -EINVAL;
	dev = get_requested(info);
	if (IS_ERR(dev))
		return PTR_ERR(dev);
	err = set_params(info, NULL);
	if (!err)
		err = set_params(info, dev);
	sroce_device_put(dev);
	return err;
}

static const struct genl_ops ops[] = {
	{
		.cmd = SROCE_CMD_DEV_GET,
		.doit = dev_get,
		.start = dump_start,
		.dumpit = dev_dump,
		.policy = get_policy,
		.maxattr = ARRAY_SIZE(get_policy) - 1,
	},
	{
		.cmd = SROCE_CMD_DEV_SET,
		.doit = dev_set,
		.policy = set_policy,
		.maxattr = ARRAY_SIZE(set_policy) - 1,
		.flags = GENL_ADMIN_PERM,
	},
	{
		.cmd = SROCE_CMD_QP_GET,
		.start = dump_start,
		.dumpit = qp_dump,
		.policy = get_policy,
		.maxattr = ARRAY_SIZE(get_policy) - 1,
	},
};

static struct genl_family family = {
	.name = SROCE_GENL_NAME,
	.version = SROCE_GENL_VERSION,
	.netnsok = true,
	.module = THIS_MODULE,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
};

/**
 * sroce_netlink_init() - offer the family
 *
 * May sleep. Return: 0 or a negative errno.
 */
int sroce_netlink_init(void)
{
	return genl_register_family(&family);
}

/**
 * sroce_netlink_fini() - withdraw it
 *
 * May sleep. Waits for requests under way.
 */
void sroce_netlink_fini(void)
{
	genl_unregister_family(&family);
}
