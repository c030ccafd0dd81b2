/**
 * @fileoverview sn_attend(): asked for in the code cache, done by the dispatcher. See attend.h.
 *
 * The thread sends itself the signal by which threads are stopped: its handler knows how to come to the next boundary from
 * anywhere. Compiled for general registers only, since inserted code calls it.
 */
#include "guest/attend.h"

#include <asm/unistd.h>

#include "base/x86_64/raw_syscall.h"
#include "guest/thread.h"

void sn_attend(sn_thread *thread, void (*function)(sn_thread *thread)) {
    thread->attends = function;
    sn_syscall(__NR_rt_tgsigqueueinfo, thread->process, thread->id, sn_stop_information.si_signo, &sn_stop_information);
}

void sn_attend_now(sn_thread *thread) {
    void (*function)(sn_thread *thread) = thread->attends;
    thread->attends = NULL;
    SN_TELL_TOOL("(attending function)", function(thread));
}
