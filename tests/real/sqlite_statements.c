// Ever other statements for SQLite, of random shapes, on small tables in memory: most of the time goes to the parser,
// the planner and the code generator. The argument is the number of statements.
#include "sqlite3.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sqlite3 *database;
static unsigned long long checksum;
static char sql[4000];

static int add_row(void *unused, int columns, char **values, char **names) {
    (void)unused, (void)names;
    for (int i = 0; i < columns; i++)
        for (const char *c = values[i] ? values[i] : "null"; *c; c++)
            checksum = checksum * 31 + (unsigned char)*c;
    return 0;
}

static unsigned below(unsigned limit) {
    static unsigned long long state = 1;
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(state >> 33) % limit;
}

static void say(const char *text) { strncat(sql, text, sizeof sql - strlen(sql) - 1); }

static void say_column(void) {
    static const char *const columns[] = {"a", "b", "c", "rowid"};
    say("t");
    say((const char *[]){"0.", "1."}[below(2)]);
    say(columns[below(4)]);
}

static void say_value(int depth) {
    static const char *const operators[] = {
        "+", "-", "*", "%", "||", "=", "<", ">=", "<>", "&", "AND", "OR", "IS", "IS NOT", "<<", "LIKE"};
    static const char *const calls[] = {"abs", "length", "typeof", "hex", "upper", "quote", "max", "coalesce"};
    char number[20];
    switch (depth <= 0 ? below(3) : below(8)) {
    case 0:
        snprintf(number, sizeof number, "%u", below(1000));
        return say(number);
    case 1:
    case 2:
        return say_column();
    case 3: {
        unsigned call = below(8);
        say(calls[call]);
        say("(");
        say_value(depth - 1);
        if (call >= 6) {
            say(",");
            say_value(depth - 1);
        }
        return say(")");
    }
    case 4:
        say("CASE WHEN ");
        say_value(depth - 1);
        say(" THEN ");
        say_value(depth - 1);
        say(" ELSE ");
        say_value(depth - 1);
        return say(" END");
    default:
        say("(");
        say_value(depth - 1);
        say(" ");
        say(operators[below(16)]);
        say(" ");
        say_value(depth - 1);
        return say(")");
    }
}

static void say_select(void) {
    say("SELECT ");
    for (unsigned i = below(4);; i--) {
        say_value(3);
        if (i == 0)
            break;
        say(", ");
    }
    say(below(2) ? " FROM t0 JOIN t1 ON " : " FROM t0 LEFT JOIN t1 ON ");
    say_value(2);
    if (below(3)) {
        say(" WHERE ");
        say_value(4);
    }
    if (below(4) == 0) {
        say(" GROUP BY ");
        say_value(1);
    }
    if (below(2)) {
        say(" ORDER BY ");
        say_value(2);
        say(below(2) ? " DESC" : ", 1");
    }
    say(" LIMIT 3");
}

int main(int argc, char **argv) {
    int statements = argc > 1 ? atoi(argv[1]) : 1000, refused = 0;
    sqlite3_open(":memory:", &database);
    sqlite3_exec(database,
                 "CREATE TABLE t0(a INTEGER, b TEXT, c REAL); CREATE TABLE t1(a INTEGER PRIMARY KEY, b, c TEXT);"
                 "CREATE INDEX i0 ON t0(b, c); CREATE INDEX i1 ON t1(c)",
                 NULL, NULL, NULL);
    for (int row = 0; row < 4; row++) {
        snprintf(sql, sizeof sql, "INSERT INTO t0 VALUES(%u, 'x%u', %u.5); INSERT INTO t1 VALUES(%d, %u, 'y%u')",
                 below(9), below(9), below(9), row, below(9), below(9));
        sqlite3_exec(database, sql, NULL, NULL, NULL);
    }
    for (int i = 0; i < statements; i++) {
        sql[0] = 0;
        say_select();
        refused += sqlite3_exec(database, sql, add_row, NULL, NULL) != SQLITE_OK;
    }
    sqlite3_close(database);
    printf("sqlite %s statements %d refused %d sum %016llx\n", sqlite3_libversion(), statements, refused, checksum);
    return 0;
}
