/**
 * @file bench/workloads/n_body.c
 * @fileoverview Floating-point workload: bodies that attract each other, step by step; scalar arithmetic with square
 * roots and divisions. Argument: steps. Prints the energy at the start and at the end.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BODIES = 5 };

typedef struct body {
    double place[3], speed[3], mass;
} body;

static body bodies[BODIES];

static void set_out(void) {
    for (int index = 0; index < BODIES; index++) {
        body *here = &bodies[index];
        here->mass = index == 0 ? 40.0 : 0.01 * (index + 1);
        for (int axis = 0; axis < 3; axis++) {
            here->place[axis] = index * (axis == 0 ? 5.0 : axis == 1 ? 1.5 : -0.4);
            here->speed[axis] = index * (axis == 0 ? -0.1 : axis == 1 ? 0.6 : 0.05);
        }
    }
}

static double distance_squared(const body *one, const body *other) {
    double sum = 0;
    for (int axis = 0; axis < 3; axis++) {
        double apart = one->place[axis] - other->place[axis];
        sum += apart * apart;
    }
    return sum;
}

static void step(double time) {
    for (int first = 0; first < BODIES; first++)
        for (int second = first + 1; second < BODIES; second++) {
            body *one = &bodies[first], *other = &bodies[second];
            double squared = distance_squared(one, other) + 1e-6;
            double pull = time / (squared * sqrt(squared));
            for (int axis = 0; axis < 3; axis++) {
                double apart = one->place[axis] - other->place[axis];
                one->speed[axis] -= apart * other->mass * pull;
                other->speed[axis] += apart * one->mass * pull;
            }
        }
    for (int index = 0; index < BODIES; index++)
        for (int axis = 0; axis < 3; axis++) bodies[index].place[axis] += time * bodies[index].speed[axis];
}

static double energy(void) {
    double sum = 0;
    for (int first = 0; first < BODIES; first++) {
        const body *one = &bodies[first];
        for (int axis = 0; axis < 3; axis++) sum += 0.5 * one->mass * one->speed[axis] * one->speed[axis];
        for (int second = first + 1; second < BODIES; second++)
            sum -= one->mass * bodies[second].mass / sqrt(distance_squared(one, &bodies[second]));
    }
    return sum;
}

int main(int count, char **arguments) {
    long steps = count > 1 ? atol(arguments[1]) : 1000;
    set_out();
    printf("%.9f\n", energy());
    for (long number = 0; number < steps; number++) step(0.001);
    printf("%.9f\n", energy());
    return 0;
}
