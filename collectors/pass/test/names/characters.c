// Through a pointer to nothing in particular, code accesses characters and copies bytes: they are no members.
// RUN: clang -O1 %fresh %s -o - | %names | FileCheck %s

int at(const void *bytes, int i) { return ((const unsigned char *)bytes)[i]; }
// CHECK: at load part=0 variable='bytes' kind=parameter object='' field='' value='char'

void copy(void *to, const void *from) { __builtin_memcpy(to, from, 64); }
// CHECK: copy call part=0 variable='from' kind=parameter object='' field='' value='void'
// CHECK: copy call part=1 variable='to' kind=parameter object='' field='' value='void'

// A union's member of one byte has a structure.
union word { unsigned char bytes[4], first; int all; };
int first(union word *w) { return w->first; }
// CHECK: first load part=0 variable='w' kind=parameter object='word' field='{bytes[]|first}'
