/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How kernels differ in shared memory (shmem), as compat.h does for the rest. */
#ifndef SROCE_COMPAT_SHMEM_H
#define SROCE_COMPAT_SHMEM_H

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/shmem_fs.h>

#include "compat/probe.h"

/* 7.0: the flags have a type of their own. Without any, all bytes count as committed at once. */
static inline struct file *compat_shmem_file_setup(const char *name, loff_t bytes)
{
#ifdef SROCE_HAVE_SHMEM_VMA_FLAGS
	return shmem_file_setup(name, bytes, EMPTY_VMA_FLAGS);
#else
	return shmem_file_setup(name, bytes, 0);
#endif
}

/* 6.16: the function of a file that maps it may be one of two. */
#ifndef SROCE_HAVE_VFS_MMAP
static inline int vfs_mmap(struct file *file, struct vm_area_struct *vma)
{
	return call_mmap(file, vma);
}
#endif

#endif
