// Records that stand for a path instead of a block.
//
// If only one way leads to a block, its record needs no id of its own. The block replaces the id of the record before
// it by one that says "that block, and then this one", and adds its roots. So a tree of blocks needs as many ids as it
// has blocks, and each id is the number of the path from the tree's root. After the root, all stores go to constant
// distances from the record's start.
#pragma once

#include "record/Plan.h"

namespace trackway {

// Decides for each unit whether it continues the record of the unit before it. Availability is known.
void findPaths(Plan &P);

} // namespace trackway
