/* What bench/form_costs.py measures with: eight additions to memory. */
        .macro  form offset
        add     %r8, \offset(%rsi)
        .endm
#include "eight_times.S"
