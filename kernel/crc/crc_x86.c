// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CRC methods of x86-64, and access to the vector registers.
 *
 * User-mode Linux is a process of its host. The host saves the vector registers of processes and
 * signal handlers, so kernel_fpu_begin() does nothing there.
 */
#ifdef CONFIG_X86_64

#include <linux/bottom_half.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#ifndef CONFIG_UML
#include <asm/fpu/types.h>
#endif

#include "crc/crc_fold.h"
#include "crc/crc_method.h"

static bool has_pclmul(void)
{
	return boot_cpu_has(X86_FEATURE_PCLMULQDQ) && boot_cpu_has(X86_FEATURE_XMM4_1);
}

static bool has_avx2(void)
{
#ifndef CONFIG_UML
	if (!cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM, NULL))
		return false;
#endif
	return has_pclmul() && boot_cpu_has(X86_FEATURE_AVX2) &&
	       boot_cpu_has(X86_FEATURE_VPCLMULQDQ);
}

static bool has_avx512(void)
{
#ifndef CONFIG_UML
	if (!cpu_has_xfeatures(XFEATURE_MASK_AVX512, NULL))
		return false;
#endif
	/* These CPUs lower their clock for 512-bit vectors. */
#ifdef X86_FEATURE_PREFER_YMM
	if (boot_cpu_has(X86_FEATURE_PREFER_YMM))
		return false;
#endif
	return has_avx2() && boot_cpu_has(X86_FEATURE_AVX512BW) &&
	       boot_cpu_has(X86_FEATURE_AVX512VL) && boot_cpu_has(X86_FEATURE_AVX512_VBMI2);
}

static const struct sroce_crc_method methods[] = {
	{
		.name = "avx512",
		.unit = SROCE_FOLD_AVX512_BYTES,
		.vector = true,
		.fold = sroce_fold_avx512,
		.fold_copy = sroce_fold_avx512_copy,
		.prefixed = sroce_fold_avx512_prefixed,
		.prefixed_copy = sroce_fold_avx512_prefixed_copy,
	},
	{
		.name = "avx2",
		.unit = SROCE_FOLD_AVX2_BYTES,
		.vector = true,
		.fold = sroce_fold_avx2,
		.fold_copy = sroce_fold_avx2_copy,
		.prefixed = sroce_fold_avx2_prefixed,
		.prefixed_copy = sroce_fold_avx2_prefixed_copy,
	},
	{
		.name = "pclmul",
		.unit = SROCE_FOLD_PCLMUL_BYTES,
		.vector = true,
		.fold = sroce_fold_pclmul,
		.fold_copy = sroce_fold_pclmul_copy,
		.prefixed = sroce_fold_pclmul_prefixed,
		.prefixed_copy = sroce_fold_pclmul_prefixed_copy,
	},
};

/**
 * sroce_crc_arch_method() - the methods of this CPU, fastest first
 * @index: 0 for the first
 *
 * Return: a method, or NULL after the last.
 */
const struct sroce_crc_method *sroce_crc_arch_method(u32 index)
{
	const u32 first = has_avx512() ? 0 : has_avx2() ? 1 : has_pclmul() ? 2 : 3;

	if (!index)
		sroce_fold_init();
	return first + index < ARRAY_SIZE(methods) ? &methods[first + index] : NULL;
}

/**
 * sroce_crc_arch_begin() - take the vector registers of this CPU
 *
 * Disables preemption and softirqs. Before 6.16 a softirq may interrupt code between
 * kernel_fpu_begin() and kernel_fpu_end(), and would then find in_section (crc.c) set. Fails with
 * interrupts disabled, because softirqs cannot be enabled again there.
 *
 * Return: true if the caller owns the registers until sroce_crc_arch_end().
 */
bool sroce_crc_arch_begin(void)
{
	if (irqs_disabled())
		return false;
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		local_bh_disable();
	if (irq_fpu_usable()) {
		kernel_fpu_begin();
		return true;
	}
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		local_bh_enable();
	return false;
}

/**
 * sroce_crc_arch_end() - give the vector registers back
 */
void sroce_crc_arch_end(void)
{
	kernel_fpu_end();
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		local_bh_enable();
}

#endif
