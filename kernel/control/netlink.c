// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The generic netlink family "sroce" (uapi/sroce_netlink.h): reads and sets the
 * parameters of devices. netlink_qp.c shows queue pairs.
 *
 * Handlers run under genl's lock, one at a time. A handler holds a reference to
 * its device. A dump drops it before it continues in another message, and
 * remembers the index of the device instead.
 */
#include "compat/compat.h"
#include "control/attach.h"
#include "control/netlink.h"
#include "control/params.h"

/* A device with all its parameters takes 2.2 KB; leave room for more parameters. */
#define DEVICE_MSG_BYTES	8192

/* --- reading --------------------------------------------------------------------- */

static int put_choices(struct sk_buff *skb, u32 index)
{
	const char *choice;
	u32 value;

	for (value = 0; (choice = sroce_param_choice(index, value)); value++)
		if (nla_put_string(skb, SROCE_A_PARAM_CHOICE, choice))
			return -EMSGSIZE;
	return 0;
}

static int put_param(struct sk_buff *skb, const struct sroce_device *dev, u32 index)
{
	const struct sroce_cc_param *param = sroce_param_at(index);
	struct nlattr *nest = nla_nest_start(skb, SROCE_A_PARAM);

	if (!nest ||
	    nla_put_string(skb, SROCE_A_PARAM_NAME, param->name) ||
	    nla_put_u32(skb, SROCE_A_PARAM_VALUE, sroce_param_get(dev, index)) ||
	    nla_put_u32(skb, SROCE_A_PARAM_MIN, param->min) ||
	    nla_put_u32(skb, SROCE_A_PARAM_MAX, param->max) ||
	    nla_put_u32(skb, SROCE_A_PARAM_DEFAULT, param->initial))
		return -EMSGSIZE;
	if (*param->unit && nla_put_string(skb, SROCE_A_PARAM_UNIT, param->unit))
		return -EMSGSIZE;
	if (put_choices(skb, index))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * sroce_netlink_put_device() - write the device that a message is about
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
	u32 index;
	int err;

	err = sroce_netlink_put_device(skb, dev);
	if (!err && line_rate)
		err = nla_put_u64_64bit(skb, SROCE_A_LINE_RATE, line_rate, SROCE_A_PAD);
	for (index = 0; !err && sroce_param_at(index); index++)
		err = put_param(skb, dev, index);
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
		ib_device_put(&dev->ibdev);
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
	header = genlmsg_put_reply(skb, info, &sroce_genl_family, 0, SROCE_CMD_DEV_GET);
	err = header ? put_all_of(skb, dev) : -EMSGSIZE;
	if (err) {
		nlmsg_free(skb);
		goto out;
	}
	genlmsg_end(skb, header);
	err = genlmsg_reply(skb, info);
out:
	ib_device_put(&dev->ibdev);
	return err;
}

/* --- dumps ----------------------------------------------------------------------- */

/* In netlink_callback.args: where the dump continues. */
enum {
	DUMP_INDEX,		/* of the device */
	DUMP_QPN,		/* of its QP */
};

static void *dump_header(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &sroce_genl_family,
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
	ib_device_put(&dev->ibdev);
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
		/* DUMP_QPN belongs to the device where the dump stopped. */
		if (dev->ibdev.index != cb->args[DUMP_INDEX])
			cb->args[DUMP_QPN] = 0;
		cb->args[DUMP_INDEX] = dev->ibdev.index;
		if (!name || !nla_strcmp(name, dev->ibdev.name))
			err = dump_one(skb, cb, dev);
		if (!err) {
			cb->args[DUMP_INDEX]++;
			cb->args[DUMP_QPN] = 0;
		}
		ib_device_put(&dev->ibdev);
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

static int find_param(const struct nlattr *name, u32 *index, struct netlink_ext_ack *extack)
{
	const struct sroce_cc_param *param;

	for (*index = 0; (param = sroce_param_at(*index)); ++*index)
		if (!nla_strcmp(name, param->name))
			return 0;
	compat_extack_about(extack, nla_data(name), ": no such parameter");
	return -EINVAL;
}

static int find_choice(u32 index, const struct nlattr *text, u32 *value,
		       struct netlink_ext_ack *extack)
{
	const char *choice;

	for (*value = 0; (choice = sroce_param_choice(index, *value)); ++*value)
		if (!nla_strcmp(text, choice))
			return 0;
	if (*value)
		compat_extack_about(extack, nla_data(text), ": no such choice of %s",
				    sroce_param_at(index)->name);
	else
		compat_extack_about(extack, sroce_param_at(index)->name, ": takes a number");
	return -EINVAL;
}

static int check_range(u32 index, u32 value, struct netlink_ext_ack *extack)
{
	const struct sroce_cc_param *param = sroce_param_at(index);

	if (value >= param->min && value <= param->max)
		return 0;
	compat_extack_about(extack, param->name, ": %u is not in %u to %u", value, param->min,
			    param->max);
	return -ERANGE;
}

static int parse_value(struct nlattr **tb, u32 index, u32 *value, struct netlink_ext_ack *extack)
{
	const struct nlattr *text = tb[SROCE_A_PARAM_TEXT];

	if (!text == !tb[SROCE_A_PARAM_VALUE]) {
		compat_extack_about(extack, sroce_param_at(index)->name,
				    ": either a number or a text");
		return -EINVAL;
	}
	if (text)
		return find_choice(index, text, value, extack);
	*value = nla_get_u32(tb[SROCE_A_PARAM_VALUE]);
	return check_range(index, *value, extack);
}

static int parse_param(const struct nlattr *nest, u32 *index, u32 *value,
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
	err = find_param(tb[SROCE_A_PARAM_NAME], index, extack);
	return err ?: parse_value(tb, *index, value, extack);
}

/* Without @dev, check all parameters; then, with @dev, set them, which cannot fail. */
static int set_params(struct genl_info *info, struct sroce_device *dev)
{
	const struct nlattr *attr;
	u32 index, value;
	int rem, err;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != SROCE_A_PARAM)
			continue;
		err = parse_param(attr, &index, &value, info->extack);
		if (err)
			return err;
		if (dev)
			sroce_param_set(dev, index, value);
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
	ib_device_put(&dev->ibdev);
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
		.flags = GENL_ADMIN_PERM,
	},
};

/* Unregistering waits for requests in progress. */
struct genl_family sroce_genl_family = {
	.name = SROCE_GENL_NAME,
	.version = SROCE_GENL_VERSION,
	.netnsok = true,
	.module = THIS_MODULE,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
};
