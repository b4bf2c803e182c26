// Calls by a pointer that may be an allocator are recorded as its own where the module takes its address.
// RUN: clang -O1 %fresh %s -o - | opt -load-pass-plugin %plugin -passes='trackway-attribution,trackway-allocator-pointers,verify' -S | FileCheck %s
// RUN: clang -O1 %fresh %s -o - | opt -load-pass-plugin %plugin -passes='trackway-attribution,trackway-allocator-pointers,print<trackway-names>' -disable-output | FileCheck %s --check-prefix=NAMES
// RUN: clang -O1 -DOTHER %fresh %s -o - | opt -load-pass-plugin %plugin -passes='trackway-attribution,trackway-allocator-pointers,verify' -S | FileCheck %s --check-prefix=OTHER

typedef __SIZE_TYPE__ size_t;
void *malloc(size_t);
void free(void *);
void *other(size_t);
void drop(void *);
struct hooks {
    void *(*get)(size_t);
    void (*put)(void *);
    int (*count)(void);
};
struct node {
    struct node *next;
    long value;
};
#ifdef OTHER
struct hooks hooks = {other, drop, 0};
#else
struct hooks hooks = {malloc, free, 0};
#endif

struct node *made(void) {
    struct node *one = (struct node *)hooks.get(sizeof(struct node));
    hooks.count();
    return one;
}
// CHECK-LABEL: @made(
// CHECK: icmp eq ptr %{{.*}}, @malloc
// CHECK: call ptr @malloc(i64 noundef 16) [[ATTRIBUTES:#[0-9]+]]
// CHECK: call ptr %{{.*}}(i64 noundef 16)
// CHECK-NOT: icmp
// CHECK: call i32 %
// CHECK-LABEL: @ended(
// CHECK: icmp eq ptr %{{.*}}, @free
// CHECK: call void @free(ptr
// CHECK: attributes [[ATTRIBUTES]] = {{.*}}nobuiltin

// NAMES: made allocation element='node' size=16 variable='one'
// OTHER-NOT: icmp

void ended(struct node *one) { hooks.put(one); }
