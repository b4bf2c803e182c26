// Records that stand for a path instead of a block.
//
// Where one way only leads to a block, its record needn't have an id of its own: what is recorded there replaces the id
// of the record before it by one that says "that block, and then this one", and adds its roots. So a tree of blocks
// needs as many ids as it has blocks, each of which is the number of the path from the tree's root. Behind the root all
// stores go to constant distances from the record's start.
#pragma once

#include "record/Plan.h"

namespace trackway {

// Decides for each unit whether it continues the record of the unit before it. Availability is known.
void findPaths(Plan &P);

} // namespace trackway
