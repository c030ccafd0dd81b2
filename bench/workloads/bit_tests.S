/* What bench/form_costs.py measures with where an instruction has to be one whose accesses vary: eight tests of a bit that a
   register numbers. */
        .macro  form offset
        bt      %r8, \offset(%rsi)
        .endm
#include "eight_times.S"
