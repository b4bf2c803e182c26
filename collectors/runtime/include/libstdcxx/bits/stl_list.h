// The functions of lists' nodes that libstdc++ declares here and has in its binary.
#pragma GCC system_header
#include_next <bits/stl_list.h>

#if !defined(__TRACKWAY_STL_LIST) && defined(_GLIBCXX_RELEASE) && _GLIBCXX_RELEASE <= 14
#define __TRACKWAY_STL_LIST

inline void std::__detail::_List_node_base::_M_hook(_List_node_base *const __next) _GLIBCXX_USE_NOEXCEPT {
    _M_next = __next;
    _M_prev = __next->_M_prev;
    _M_prev->_M_next = this;
    __next->_M_prev = this;
}

inline void std::__detail::_List_node_base::_M_unhook() _GLIBCXX_USE_NOEXCEPT {
    _M_prev->_M_next = _M_next;
    _M_next->_M_prev = _M_prev;
}

// The nodes from __first to the one before __end come to stand before this one.
inline void std::__detail::_List_node_base::_M_transfer(_List_node_base *const __first,
                                                        _List_node_base *const __end) _GLIBCXX_USE_NOEXCEPT {
    if (this == __end)
        return;
    _List_node_base *const __last = __end->_M_prev;
    __first->_M_prev->_M_next = __end;
    __end->_M_prev = __first->_M_prev;
    __first->_M_prev = _M_prev;
    _M_prev->_M_next = __first;
    __last->_M_next = this;
    _M_prev = __last;
}

inline void std::__detail::_List_node_base::_M_reverse() _GLIBCXX_USE_NOEXCEPT {
    _List_node_base *__node = this;
    do {
        _List_node_base *const __next = __node->_M_next;
        __node->_M_next = __node->_M_prev;
        __node->_M_prev = __next;
        __node = __next;
    } while (__node != this);
}

namespace __trackway_list {

// The node stands for the whole list whose first and last nodes these are; it was empty if it pointed to itself.
inline void __adopt(std::__detail::_List_node_base &__list, std::__detail::_List_node_base *__first,
                    std::__detail::_List_node_base *__last, bool __was_empty) {
    if (__was_empty)
        __first = __last = &__list;
    __list._M_next = __first;
    __list._M_prev = __last;
    __first->_M_prev = __last->_M_next = &__list;
}

} // namespace __trackway_list

// Both are nodes that stand for whole lists.
inline void std::__detail::_List_node_base::swap(_List_node_base &__one,
                                                 _List_node_base &__other) _GLIBCXX_USE_NOEXCEPT {
    const bool __one_was_empty = __one._M_next == &__one, __other_was_empty = __other._M_next == &__other;
    _List_node_base *const __first = __one._M_next, *const __last = __one._M_prev;
    __trackway_list::__adopt(__one, __other._M_next, __other._M_prev, __other_was_empty);
    __trackway_list::__adopt(__other, __first, __last, __one_was_empty);
}

#endif
