/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Loading and unloading of the module, and where it registers. */
#ifndef STAND_IN_LOAD_H
#define STAND_IN_LOAD_H

#include "stand_in/dmabuf.h"

#ifdef __cplusplus
extern "C" {
#endif

struct genl_family;
struct notifier_block;
struct rdma_link_ops;

#define __exit
#define module_init(fn)		int (*const stand_in_init)(void) = (fn)
#define module_exit(fn)		void (*const stand_in_exit)(void) = (fn)
#define MODULE_DESCRIPTION(text)
#define MODULE_AUTHOR(text)
#define MODULE_LICENSE(text)
#define MODULE_VERSION(text)

extern int (*const stand_in_init)(void);
extern void (*const stand_in_exit)(void);

/**
 * struct stand_in_load - what a test tells these functions, and what they tell it
 * @steps: a letter for each registration: n(et), e(vents of netdevs), g(eneric netlink), l(inks); a
 *         capital letter for its end
 * @fails: letter of the registration that fails
 * @at_step: called for each
 */
struct stand_in_load {
	char	steps[16];
	char	fails;
	void	(*at_step)(char step);
};

extern struct stand_in_load stand_in_load;

int stand_in_step(char step);
/* Registration of an object that is not the module's is a bug. */
int register_netdevice_notifier(struct notifier_block *notifier);
void unregister_netdevice_notifier(struct notifier_block *notifier);
int genl_register_family(struct genl_family *family);
void genl_unregister_family(struct genl_family *family);
void rdma_link_register(struct rdma_link_ops *ops);
void rdma_link_unregister(struct rdma_link_ops *ops);

#ifdef __cplusplus
}
#endif

#endif
