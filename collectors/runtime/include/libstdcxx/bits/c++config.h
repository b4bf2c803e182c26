// Has members of strings compiled with the program: otherwise declarations leave them to libstdc++'s binary. The
// library means -1 for that, and uses it itself where its assertions are on.
#pragma GCC system_header
#include_next <bits/c++config.h>

#if defined(_GLIBCXX_EXTERN_TEMPLATE) && _GLIBCXX_EXTERN_TEMPLATE == 1
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE -1
#endif
