define(`f', `ifelse($1, 0, 1, `eval($1 * f(decr($1)))')')dnl
f(10) f(5)
