// A speed test for SQLite, after the shape of its own: tables with and without indexes, filled, searched, joined,
// updated, sorted and emptied, all in memory. The argument is the size: rows of the largest table.
#include "sqlite3.h"

#include <stdio.h>
#include <stdlib.h>

static sqlite3 *database;
static unsigned long long checksum;

static void fail(const char *what) {
    fprintf(stderr, "sqlite_speed: %s: %s\n", what, sqlite3_errmsg(database));
    exit(1);
}

static int add_row(void *unused, int columns, char **values, char **names) {
    (void)unused, (void)names;
    for (int i = 0; i < columns; i++)
        for (const char *c = values[i] ? values[i] : "null"; *c; c++)
            checksum = checksum * 31 + (unsigned char)*c;
    return 0;
}

static void execute(const char *sql) {
    if (sqlite3_exec(database, sql, add_row, NULL, NULL) != SQLITE_OK)
        fail(sql);
}

static unsigned next_number(void) {
    static unsigned state = 1;
    return (state = state * 1103515245u + 12345u) >> 8;
}

// A number in words, as SQLite's own speed test uses for text columns.
static void number_in_words(unsigned number, char *words, size_t size) {
    static const char *const digits[] = {"zero", "one", "two",   "three", "four",
                                         "five", "six", "seven", "eight", "nine"};
    size_t used = 0;
    do {
        used += (size_t)snprintf(words + used, size - used, "%s ", digits[number % 10]);
        number /= 10;
    } while (number > 0);
}

static void fill(const char *table, int rows) {
    char sql[100], words[100];
    sqlite3_stmt *insert;
    snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (?1, ?2, ?3)", table);
    if (sqlite3_prepare_v2(database, sql, -1, &insert, NULL) != SQLITE_OK)
        fail(sql);
    for (int row = 1; row <= rows; row++) {
        unsigned number = next_number() % (unsigned)rows;
        number_in_words(number, words, sizeof words);
        sqlite3_bind_int(insert, 1, row);
        sqlite3_bind_int(insert, 2, (int)number);
        sqlite3_bind_text(insert, 3, words, -1, SQLITE_TRANSIENT);
        if (sqlite3_step(insert) != SQLITE_DONE)
            fail(sql);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
}

int main(int argc, char **argv) {
    int rows = argc > 1 ? atoi(argv[1]) : 2000;
    if (sqlite3_open(":memory:", &database) != SQLITE_OK)
        fail("open");
    execute("CREATE TABLE plain(a INTEGER, b INTEGER, c TEXT)");
    execute("CREATE TABLE keyed(a INTEGER PRIMARY KEY, b INTEGER, c TEXT)");
    execute("CREATE INDEX keyed_b ON keyed(b)");
    execute("BEGIN");
    fill("plain", rows);
    fill("keyed", rows);
    execute("COMMIT");
    execute("SELECT count(*), avg(b), min(c), max(c) FROM plain WHERE b BETWEEN 10 AND 1000");
    execute("SELECT count(*) FROM plain WHERE c LIKE '%seven%'");
    execute("SELECT sum(keyed.a) FROM plain JOIN keyed ON keyed.b = plain.a WHERE plain.b % 3 = 0");
    execute("SELECT c FROM plain ORDER BY c, a LIMIT 20");
    execute("UPDATE keyed SET b = b * 2, c = c || 'again' WHERE a % 5 = 0");
    execute("CREATE INDEX plain_c ON plain(c)");
    execute("SELECT c, count(*) AS uses FROM plain GROUP BY c HAVING uses > 2 ORDER BY uses DESC, c LIMIT 10");
    execute("WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT sum(i * i) FROM n");
    execute("DELETE FROM keyed WHERE b BETWEEN 100 AND 300");
    execute("DELETE FROM plain WHERE c LIKE 'one%'");
    execute("SELECT count(*), sum(a) FROM plain UNION ALL SELECT count(*), sum(b) FROM keyed");
    execute("PRAGMA integrity_check");
    sqlite3_close(database);
    printf("sqlite %s rows %d sum %016llx\n", sqlite3_libversion(), rows, checksum);
    return 0;
}
