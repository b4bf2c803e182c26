// The interpreter: runs the script that the first argument names, with the others as its arguments.
#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"

#include <stdio.h>

int main(int argc, char **argv) {
    lua_State *state = luaL_newstate();
    if (!state || argc < 2)
        return 2;
    luaL_openlibs(state);
    int failed = luaL_loadfile(state, argv[1]);
    for (int i = 2; !failed && i < argc; i++)
        lua_pushstring(state, argv[i]);
    if (failed || lua_pcall(state, argc - 2, 0, 0)) {
        fprintf(stderr, "lua: %s\n", lua_tostring(state, -1));
        return 1;
    }
    lua_close(state);
    return 0;
}
