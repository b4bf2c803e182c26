// Unaligned accesses by intrinsics go by the object to which the argument leads, not by the structure of the header.
// RUN: clang -O1 %fresh %s -o - | %latenames 2>&1 | FileCheck %s
#include <immintrin.h>

struct buffer { unsigned char bytes[64]; double values[8]; };
struct buffer shared;

void copy(struct buffer *to, const unsigned char *from) {
    _mm_storeu_si128((__m128i *)(to->bytes + 16), _mm_loadu_si128((const __m128i *)from));
}
// CHECK-NOT: object='__
// CHECK: copy load part=0 variable='from' kind=parameter object='' field='' value='unsigned char'
// CHECK: copy store part=0 variable='to' kind=parameter object='buffer' field='bytes'

double sum(const double *v) {
    __m128d x = _mm_add_pd(_mm_loadu_pd(v + 2), _mm_load1_pd(&shared.values[1]));
    return x[0] + x[1];
}
// CHECK-DAG: sum load part=0 variable='v' kind=parameter object='' field='' value='double'
// CHECK-DAG: sum load part=0 variable='shared' kind=global object='buffer' field='values

int one(const void *p) { return _mm_cvtsi128_si32(_mm_loadu_si32(p)); }
// CHECK: one load part=0 variable='p' kind=parameter object='' field=''
// CHECK-NOT: type '__
