// A C library whose logarithms, exponentials and powers are wrong in the last bit. Loaded before the real
// one (LD_PRELOAD), it shows which files depend on it: `python3 tools/same_bytes.py --wrong-maths`.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>

typedef double (*one)(double);
typedef float (*onef)(float);
typedef double (*two)(double, double);
typedef float (*twof)(float, float);

#define NEXT(name, type) \
    static type next; \
    if (!next) next = (type)dlsym(RTLD_NEXT, name)

#define OF_ONE(name) \
    double name(double x) { NEXT(#name, one); return nextafter(next(x), HUGE_VAL); } \
    float name##f(float x) { NEXT(#name "f", onef); return nextafterf(next(x), HUGE_VALF); }

#define OF_TWO(name) \
    double name(double x, double y) { NEXT(#name, two); return nextafter(next(x, y), HUGE_VAL); } \
    float name##f(float x, float y) { NEXT(#name "f", twof); return nextafterf(next(x, y), HUGE_VALF); }

OF_ONE(exp) OF_ONE(exp2) OF_ONE(expm1)
OF_ONE(log) OF_ONE(log1p) OF_ONE(log2) OF_ONE(log10)
OF_ONE(sin) OF_ONE(cos) OF_ONE(tan) OF_ONE(asin) OF_ONE(acos) OF_ONE(atan)
OF_ONE(sinh) OF_ONE(cosh) OF_ONE(tanh)
OF_ONE(cbrt)
OF_TWO(pow) OF_TWO(hypot) OF_TWO(atan2)
