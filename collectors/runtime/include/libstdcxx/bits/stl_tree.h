// The functions of the nodes of maps and sets that libstdc++ declares here and has in its binary: red-black trees, as
// in Cormen, Leiserson, Rivest, Stein, Introduction to Algorithms, chapter 13. A tree's header is the parent of its
// root; it has the root as its parent, the first node on its left, and the last one on its right, and is red.
#pragma GCC system_header
#include_next <bits/stl_tree.h>

#if !defined(__TRACKWAY_STL_TREE) && defined(_GLIBCXX_RELEASE) && _GLIBCXX_RELEASE <= 14
#define __TRACKWAY_STL_TREE

namespace __trackway_tree {

typedef std::_Rb_tree_node_base _Node;

inline _Node *&__child(_Node *__node, bool __is_right) { return __is_right ? __node->_M_right : __node->_M_left; }

// No child counts as a black one.
inline bool __is_black(const _Node *__node) { return !__node || __node->_M_color == std::_S_black; }

// What pointed down to __old points to __new.
inline void __replace(const _Node *__old, _Node *__new, _Node *&__root) {
    _Node *const __parent = __old->_M_parent;
    if (__root == __old)
        __root = __new;
    else
        __child(__parent, __parent->_M_right == __old) = __new;
}

// The node goes down to that side, and its child of the other side takes its place.
inline void __rotate(_Node *__node, bool __to_right, _Node *&__root) {
    _Node *const __up = __child(__node, !__to_right);
    _Node *const __moved = __child(__up, __to_right);
    __child(__node, !__to_right) = __moved;
    if (__moved)
        __moved->_M_parent = __node;
    __up->_M_parent = __node->_M_parent;
    __replace(__node, __up, __root);
    __child(__up, __to_right) = __node;
    __node->_M_parent = __up;
}

inline void __repair_after_insertion(_Node *__node, _Node *&__root) {
    while (__node != __root && __node->_M_parent->_M_color == std::_S_red) {
        _Node *__parent = __node->_M_parent;
        _Node *const __above = __parent->_M_parent;
        const bool __side = __parent == __above->_M_right;
        _Node *const __uncle = __child(__above, !__side);
        __above->_M_color = std::_S_red;
        if (!__is_black(__uncle)) {
            __parent->_M_color = __uncle->_M_color = std::_S_black;
            __node = __above;
            continue;
        }
        if (__node == __child(__parent, !__side)) {
            __rotate(__parent, __side, __root);
            __parent = __node;
        }
        __parent->_M_color = std::_S_black;
        __rotate(__above, !__side, __root);
        break;
    }
    __root->_M_color = std::_S_black;
}

// The paths through __node, which may be none, have a black node less than the others below __parent.
inline void __repair_after_removal(_Node *__node, _Node *__parent, _Node *&__root) {
    while (__node != __root && __is_black(__node)) {
        const bool __side = __node != __parent->_M_left;
        _Node *__sibling = __child(__parent, !__side);
        if (__sibling->_M_color == std::_S_red) {
            __sibling->_M_color = std::_S_black;
            __parent->_M_color = std::_S_red;
            __rotate(__parent, __side, __root);
            __sibling = __child(__parent, !__side);
        }
        _Node *const __near = __child(__sibling, __side);
        const bool __far_is_black = __is_black(__child(__sibling, !__side));
        if (__far_is_black && __is_black(__near)) {
            __sibling->_M_color = std::_S_red;
            __node = __parent;
            __parent = __parent->_M_parent;
            continue;
        }
        if (__far_is_black) {
            __near->_M_color = std::_S_black;
            __sibling->_M_color = std::_S_red;
            __rotate(__sibling, !__side, __root);
            __sibling = __near;
        }
        __sibling->_M_color = __parent->_M_color;
        __parent->_M_color = std::_S_black;
        __child(__sibling, !__side)->_M_color = std::_S_black;
        __rotate(__parent, __side, __root);
        return;
    }
    if (__node)
        __node->_M_color = std::_S_black;
}

// Takes a node that has at most one child out of the tree.
inline void __unlink(_Node *__node, _Node &__header) {
    _Node *const __only_child = __node->_M_left ? __node->_M_left : __node->_M_right;
    if (__only_child)
        __only_child->_M_parent = __node->_M_parent;
    __replace(__node, __only_child, __header._M_parent);
    if (__header._M_left == __node)
        __header._M_left = __only_child ? _Node::_S_minimum(__only_child) : __node->_M_parent;
    if (__header._M_right == __node)
        __header._M_right = __only_child ? _Node::_S_maximum(__only_child) : __node->_M_parent;
    if (__node->_M_color == std::_S_black)
        __repair_after_removal(__only_child, __node->_M_parent, __header._M_parent);
}

// Takes a node with two children out: the next one, which has no left child, takes its place.
inline void __unlink_inner(_Node *__node, _Node &__header) {
    _Node *const __next = _Node::_S_minimum(__node->_M_right);
    _Node *const __orphan = __next->_M_right;
    _Node *__parent_of_orphan = __next;
    if (__next != __node->_M_right) {
        __parent_of_orphan = __next->_M_parent;
        __parent_of_orphan->_M_left = __orphan;
        if (__orphan)
            __orphan->_M_parent = __parent_of_orphan;
        __next->_M_right = __node->_M_right;
        __next->_M_right->_M_parent = __next;
    }
    __next->_M_left = __node->_M_left;
    __next->_M_left->_M_parent = __next;
    __replace(__node, __next, __header._M_parent);
    __next->_M_parent = __node->_M_parent;
    const std::_Rb_tree_color __lost = __next->_M_color;
    __next->_M_color = __node->_M_color;
    if (__lost == std::_S_black)
        __repair_after_removal(__orphan, __parent_of_orphan, __header._M_parent);
}

} // namespace __trackway_tree

inline std::_Rb_tree_node_base *std::_Rb_tree_increment(std::_Rb_tree_node_base *__node) _GLIBCXX_NOTHROW {
    if (__node->_M_right)
        return _Rb_tree_node_base::_S_minimum(__node->_M_right);
    _Rb_tree_node_base *__parent = __node->_M_parent;
    while (__node == __parent->_M_right) {
        __node = __parent;
        __parent = __parent->_M_parent;
    }
    // From a root that is the last node, the way leads to the header and back to the root.
    return __node->_M_right == __parent ? __node : __parent;
}

inline const std::_Rb_tree_node_base *std::_Rb_tree_increment(const std::_Rb_tree_node_base *__node) _GLIBCXX_NOTHROW {
    return _Rb_tree_increment(const_cast<_Rb_tree_node_base *>(__node));
}

inline std::_Rb_tree_node_base *std::_Rb_tree_decrement(std::_Rb_tree_node_base *__node) _GLIBCXX_NOTHROW {
    const bool __is_header = __node->_M_color == _S_red && __node->_M_parent->_M_parent == __node;
    if (__is_header)
        return __node->_M_right;
    if (__node->_M_left)
        return _Rb_tree_node_base::_S_maximum(__node->_M_left);
    _Rb_tree_node_base *__parent = __node->_M_parent;
    while (__node == __parent->_M_left) {
        __node = __parent;
        __parent = __parent->_M_parent;
    }
    return __parent;
}

inline const std::_Rb_tree_node_base *std::_Rb_tree_decrement(const std::_Rb_tree_node_base *__node) _GLIBCXX_NOTHROW {
    return _Rb_tree_decrement(const_cast<_Rb_tree_node_base *>(__node));
}

inline void std::_Rb_tree_insert_and_rebalance(const bool __is_left, std::_Rb_tree_node_base *__node,
                                               std::_Rb_tree_node_base *__parent,
                                               std::_Rb_tree_node_base &__header) _GLIBCXX_NOTHROW {
    __node->_M_parent = __parent;
    __node->_M_left = __node->_M_right = 0;
    __node->_M_color = _S_red;
    if (__parent == &__header) {
        __header._M_parent = __header._M_left = __header._M_right = __node;
    } else {
        __trackway_tree::__child(__parent, !__is_left) = __node;
        if (__is_left && __parent == __header._M_left)
            __header._M_left = __node;
        if (!__is_left && __parent == __header._M_right)
            __header._M_right = __node;
    }
    __trackway_tree::__repair_after_insertion(__node, __header._M_parent);
}

inline std::_Rb_tree_node_base *std::_Rb_tree_rebalance_for_erase(std::_Rb_tree_node_base *const __node,
                                                                  std::_Rb_tree_node_base &__header) _GLIBCXX_NOTHROW {
    if (__node->_M_left && __node->_M_right)
        __trackway_tree::__unlink_inner(__node, __header);
    else
        __trackway_tree::__unlink(__node, __header);
    return __node;
}

#endif
