/**
 * @fileoverview The data flow of vector and mask instructions: a table by mnemonic, and what turns its rows into flows.
 */
#include "flowing.h"

bool sn_flow_vector(sn_flowing *f) {
    (void)f;
    return false;
}
