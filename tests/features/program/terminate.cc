// build: g++ -O1
// variants: dynamic, static
// status: -6
/* An exception that nobody catches: std::terminate, its text on standard error, death by SIGABRT. */
#include <stdexcept>
int main() { throw std::logic_error("nobody catches this"); }
