// Equal pointers under several names and loads that can be forwarded around a loop: where labels that took part in
// alias queries would make a difference.
struct page { int flags, count; struct page *next; double weight; };
extern void note(int *);

static int flags_of(struct page *page) { return page->flags; }
static int weigh(struct page *other, double by) {
    other->weight += by;
    return other->flags + other->count;
}

int walk(struct page *first, struct page *restrict second, int n) {
    int sum = 0;
    for (struct page *p = first; p; p = p->next) {
        sum += flags_of(p);
        if (p->count > n)
            sum += weigh(p, sum);
        else
            second->weight = p->flags;
        sum += p->flags + flags_of(second);
        if (sum & 1)
            note(&p->count);
    }
    return sum + first->flags;
}
