/**
 * @fileoverview sn_state_register(): out of the image that the exit from the code cache saved (jit/x86_64/switch.S), and out of
 * registers that the engine leaves alone. Per-architecture file.
 *
 * The image is compacted: it leaves out components that are in their initial state (Intel SDM volume 1, 13.6 and 13.10).
 */
#include "guest/state_register.h"

#include <string.h>

#include "isa/isa.h"
#include "jit/thread.h"

/** Components, and places in the image's legacy area and header. */
enum { FLOATING, VECTOR_LOW, CONTROL_WORD = 0, STATUS_WORD = 2, VECTOR_CONTROL = 24, REGISTERS = 32, PRESENT = 512 };
enum { REGISTER_STEP = 16, STACK_REGISTERS = 8, EXTENDED_BYTES = 10, SELECTORS = 6 };
/** Initial values. */
enum { INITIAL_CONTROL_WORD = 0x37f, INITIAL_VECTOR_CONTROL = 0x1f80 };
/** The processor forces it where a debugger steps, and where the engine does. */
#define FLAG_RESUME UINT64_C(0x10000)

static bool is_present(const uint8_t *image, unsigned component) {
    uint64_t present;
    memcpy(&present, image + PRESENT, sizeof present);
    return present >> component & 1;
}

/** A number of the legacy area, or its initial value. */
static uint64_t from_image(const uint8_t *image, unsigned component, unsigned offset, unsigned size, uint64_t initial) {
    uint64_t value = 0;
    if (!is_present(image, component)) return initial;
    memcpy(&value, image + offset, size);
    return value;
}

static uint16_t selector(unsigned number) {
    uint16_t value = 0;
    switch (number) {
    case 0: __asm__ volatile("mov %%es, %0" : "=r"(value)); break;
    case 1: __asm__ volatile("mov %%cs, %0" : "=r"(value)); break;
    case 2: __asm__ volatile("mov %%ss, %0" : "=r"(value)); break;
    case 3: __asm__ volatile("mov %%ds, %0" : "=r"(value)); break;
    case 4: __asm__ volatile("mov %%fs, %0" : "=r"(value)); break;
    default: __asm__ volatile("mov %%gs, %0" : "=r"(value)); break;
    }
    return value;
}

static uint64_t enabled_state(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static uint64_t control_value(const uint8_t *image, unsigned number) {
    switch (number) {
    case SN_CONTROL_X87_CONTROL: return from_image(image, FLOATING, CONTROL_WORD, 2, INITIAL_CONTROL_WORD);
    case SN_CONTROL_X87_STATUS: return from_image(image, FLOATING, STATUS_WORD, 2, 0);
    case SN_CONTROL_VECTOR: return from_image(image, VECTOR_LOW, VECTOR_CONTROL, 4, INITIAL_VECTOR_CONTROL);
    case SN_CONTROL_ENABLED_STATE: return enabled_state();
    default: return selector(number - SN_CONTROL_SEGMENTS);
    }
}

static unsigned top_of(const uint8_t *image) {
    return (unsigned)from_image(image, FLOATING, STATUS_WORD, 2, 0) >> 11 & (STACK_REGISTERS - 1);
}

unsigned sn_state_stack_top(const sn_thread *thread) { return top_of(thread->save_area); }

/** The image has registers in the order of their stack. Short vectors have fixed places among them. */
static void copy_register(const uint8_t *image, unsigned number, uint32_t size, uint8_t *bytes) {
    unsigned place = size == EXTENDED_BYTES ? number : number - top_of(image);
    if (is_present(image, FLOATING)) memcpy(bytes, image + REGISTERS + REGISTER_STEP * (place % STACK_REGISTERS), size);
    else memset(bytes, 0, size);
}

bool sn_state_register_is_known(const sn_operand *operand) {
    if (!operand->size || operand->size > EXTENDED_BYTES || operand->role == SN_ROLE_ADDRESS) return false;
    switch (operand->place) {
    case SN_PLACE_X87: return true;
    case SN_PLACE_FLAGS: return operand->size <= sizeof(uint64_t);
    case SN_PLACE_CONTROL: {
        bool is_single = operand->reg >= SN_CONTROL_X87_CONTROL && operand->reg <= SN_CONTROL_ENABLED_STATE;
        return operand->size <= sizeof(uint64_t) && (is_single || operand->reg < SN_CONTROL_SEGMENTS + SELECTORS);
    }
    default: return false;
    }
}

void sn_state_register(const sn_thread *thread, uint8_t place, unsigned number, uint32_t size, uint8_t *bytes) {
    const uint8_t *image = thread->save_area;
    if (place == SN_PLACE_X87) {
        copy_register(image, number, size, bytes);
        return;
    }
    uint64_t value = place == SN_PLACE_FLAGS ? thread->flags & ~FLAG_RESUME : control_value(image, number);
    memcpy(bytes, &value, size);
}
