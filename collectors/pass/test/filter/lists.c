// Ignore lists: each prefix, and `=allow` that takes an exclusion back.
// RUN: clang -O1 %fresh %s -o %t.ll

// RUN: echo '# nothing' > %t.list
// RUN: echo 'fun:none' >> %t.list
// RUN: env TRACKWAY_PASS_OPTIONS=oracle=1:calls=0:ignorelist=%t.list %record %t.ll | awk -f %S/Inputs/recorded.awk | grep -x 'recorded: step turn main.'

// RUN: echo 'fun:st*' > %t.list
// RUN: env TRACKWAY_PASS_OPTIONS=oracle=1:calls=0:ignorelist=%t.list %record %t.ll | awk -f %S/Inputs/recorded.awk | grep -x 'recorded: turn main.'

// RUN: echo 'fun:*' > %t.list
// RUN: echo 'fun:turn=allow' >> %t.list
// RUN: env TRACKWAY_PASS_OPTIONS=oracle=1:calls=0:ignorelist=%t.list %record %t.ll | awk -f %S/Inputs/recorded.awk | grep -x 'recorded: turn.'

// RUN: echo 'fun:turn=sanitize' > %t.list
// RUN: echo 'fun:*' >> %t.list
// RUN: env TRACKWAY_PASS_OPTIONS=oracle=1:calls=0:ignorelist=%t.list %record %t.ll | awk -f %S/Inputs/recorded.awk | grep -x 'recorded: turn.'

// The function is more specific than its file.
// RUN: echo 'src:*lists.c' > %t.list
// RUN: echo 'fun:step=allow' >> %t.list
// RUN: env TRACKWAY_PASS_OPTIONS=oracle=1:calls=0:ignorelist=%t.list %record %t.ll | awk -f %S/Inputs/recorded.awk | grep -x 'recorded: step.'

// RUN: echo 'src:*' > %t.list
// RUN: echo 'src:*lists.c=allow' >> %t.list
// RUN: env TRACKWAY_PASS_OPTIONS=oracle=1:calls=0:ignorelist=%t.list %record %t.ll | awk -f %S/Inputs/recorded.awk | grep -x 'recorded: step turn main.'

// Only its type excludes the one access of `turn`.
// RUN: echo 'type:point' > %t.list
// RUN: env TRACKWAY_PASS_OPTIONS=oracle=1:calls=0:ignorelist=%t.list %record %t.ll | awk -f %S/Inputs/recorded.awk | grep -x 'recorded: step main.'

// RUN: echo 'type:*' > %t.list
// RUN: echo 'type:point=allow' >> %t.list
// RUN: env TRACKWAY_PASS_OPTIONS=oracle=1:calls=0:ignorelist=%t.list %record %t.ll | awk -f %S/Inputs/recorded.awk | grep -x 'recorded: turn.'

// Sections of others do not concern us.
// RUN: echo '[address]' > %t.list
// RUN: echo 'fun:*' >> %t.list
// RUN: echo '[trackway]' >> %t.list
// RUN: echo 'fun:turn' >> %t.list
// RUN: env TRACKWAY_PASS_OPTIONS=oracle=1:calls=0:ignorelist=%t.list %record %t.ll | awk -f %S/Inputs/recorded.awk | grep -x 'recorded: step main.'

// RUN: echo '[track*]' > %t.list
// RUN: echo 'fun:main' >> %t.list
// RUN: env TRACKWAY_PASS_OPTIONS=oracle=1:calls=0:ignorelist=%t.list %record %t.ll | awk -f %S/Inputs/recorded.awk | grep -x 'recorded: step turn.'


struct point { int x; };
int step(int *p) { return *p; }
int turn(struct point *p) { return p->x; }
int main(int count, char **arguments) { return *arguments[0]; }
