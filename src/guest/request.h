/**
 * @fileoverview Client requests (include/sonde/client.h): finding them in blocks, and those that Sonde itself answers.
 *
 * x86_64/request.c knows the sequence's registers, request_core.c what requests mean, x86_64/client_call.c has a function
 * of the client called. The tool is asked first. Blocks are looked at by a hook of jit/translate.c, whether they are
 * instrumented or not.
 */
#ifndef SONDE_GUEST_REQUEST_H
#define SONDE_GUEST_REQUEST_H

#include <stdarg.h>

#include "jit/insert.h"
#include "jit/thread.h"

/** Insert a call where the block ends a request. */
void sn_requests_insert(sn_block *block);

/** Answer a request that the tool does not know: true if Sonde itself does, with *result set. */
bool sn_request_answer(sn_thread *thread, const uint64_t arguments[6], uint64_t *result);

/** Have the client, which makes a request, call its function with these arguments (at most 4). The request is made again
    when that returns, its state else being what it was: see sn_client_call_returned(). False if there is no memory. */
bool sn_client_call(sn_thread *thread, uint64_t function, const uint64_t *arguments, unsigned count);

/** Whether the request that the client makes is one that has called a function, which has returned: what that returned is
    in *result, and the client's state is restored. */
bool sn_client_call_returned(sn_thread *thread, uint64_t *result);

/** The thread ends: forget its calls. */
void sn_client_calls_end(sn_thread *thread);

/** Copy a va_list of the client, having seen that what it leads to can be read. */
bool sn_request_take_list(uint64_t from, va_list *list);

#endif
