// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The bodies of the tracepoints. */
#define CREATE_TRACE_POINTS
#include "trace.h"

/**
 * sroce_trace_cc_details() - what only one algorithm has to tell, as " key=value" words
 * @text: written
 * @size: of @text
 * @events: their counts, as far as they are not 0
 * @info: its details
 */
void sroce_trace_cc_details(char *text, size_t size, const struct sroce_cc_events *events,
			    const struct sroce_cc_info *info)
{
	size_t used = 0;
	u32 i;

	*text = '\0';
	for (i = 0; i < info->detail_count; i++) {
		const struct sroce_cc_detail *detail = &info->details[i];
		bool fraction = detail->format == SROCE_CC_AS_FRACTION;

		used += scnprintf(text + used, size - used, " %s=%llu%s", detail->key,
				  fraction ? detail->value / (SROCE_CC_ONE / 1024) : detail->value,
				  fraction ? "/1024" : "");
	}
	for (i = 0; i < SROCE_CC_EVENT_COUNTS; i++)
		if (events->counts[i])
			used += scnprintf(text + used, size - used, " %s=%u",
					  info->count_names[i], events->counts[i]);
}
