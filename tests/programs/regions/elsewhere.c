#include "regions.h"

volatile long touched;

void touch_elsewhere(int times) { touch(times); }
