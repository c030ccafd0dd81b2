/**
 * @fileoverview The run of a client: sets everything up, loads the program, enters it.
 */
#include "guest/run.h"

#include <sys/prctl.h>

#include "base/log.h"
#include "base/settings.h"
#include "guest/events.h"
#include "guest/loader.h"
#include "guest/procfs.h"
#include "guest/request.h"
#include "guest/seccomp.h"
#include "guest/signal.h"
#include "guest/space.h"
#include "guest/syscall.h"
#include "guest/thread.h"
#include "guest/x86_64/abi.h"
#include "jit/block.h"
#include "jit/cache.h"
#include "jit/runtime.h"
#include "jit/translate.h"

int sn_client_arguments(const char *const **arguments) {
    int count = 0;
    *arguments = sn_program_current.arguments;
    while (*arguments && (*arguments)[count]) count++;
    return count;
}

int sn_client_process(void) { return sn_thread_current()->process; }

/** What /proc/self/status shows of signals. */
static bool describe_signals(int number, sn_procfs_signals *signals) {
    const sn_thread *thread = sn_thread_current();
    if (number != thread->id) return false;
    sn_signals_describe(thread, &signals->caught, &signals->ignored);
    signals->blocked = thread->mask_held ? sn_client_mask(thread) : thread->blocked_faults;
    return thread->mask_held;
}

void sn_run(const sn_tool *tool, const char *program, const char *const *arguments, const char *const *environment) {
    sn_space_init();
    sn_cache_init();
    sn_blocks_init();
    sn_translate_init(tool);
    sn_translate_insert(sn_requests_insert);
    sn_events_init(tool);
    sn_syscalls_init();
    sn_thread *thread = sn_threads_init(tool);
    sn_program_load(program, !sn_settings_current.following_exec, arguments, environment, &sn_program_current);
    prctl(PR_SET_NAME, sn_program_current.name);
    sn_verbose(1, "%s %s runs %s, loaded at %#lx, entered at %#lx", tool->name, tool->version, sn_program_current.path,
               (unsigned long)sn_program_current.load_bias, (unsigned long)sn_program_current.entry);
    sn_signals_init(thread);
    if (sn_settings_current.exec_filters >= 0) sn_seccomp_restore(thread, sn_settings_current.exec_filters);
    sn_procfs_set_signals(describe_signals);
    sn_abi_start_program(thread, sn_program_current.entry, sn_program_current.stack_pointer);
    sn_events_begin();
    sn_thread_started(thread);
    thread->exit = SN_EXIT_RESUME;
    sn_thread_enter(thread);
}
