/** Sums of the rows of a table by thread and bin of time that belong to the chosen time and threads. */
const ChosenSums = (() => {
  /** @typedef {Record<string, number>} Sums */

  /**
   * The sums of its columns of counts, by the cells of the key columns, joined by spaces.
   * @type {(table: { columns: Column[], rows: Cell[][] }, keys: string[], stream?: string) => Map<string, Sums>}
   */
  const by = ({ columns, rows }, keys, stream = 'stream') => {
    const names = columns.map(({ name }) => name);
    const [keyAt, streamAt, binAt] = [keys.map((key) => names.indexOf(key)), names.indexOf(stream), names.indexOf('bin')];
    const counted = columns.flatMap(({ unit }, position) => (unit === 'count' || unit === 'bytes' ? [position] : []));
    /** @type {Map<string, Sums>} */
    const found = new Map();
    for (const row of rows) {
      if (!Chosen.holds(Number(row[streamAt]), Number(row[binAt]))) continue;
      const key = keyAt.map((position) => row[position]).join(' ');
      const sums = found.get(key) ?? Object.fromEntries(counted.map((position) => [names[position], 0]));
      found.set(key, sums);
      for (const position of counted) sums[names[position]] += Number(row[position]);
    }
    return found;
  };

  /** Whether rows are missing for which the page has no room. @type {(table: { rows: Cell[][], totalRows: number }) => boolean} */
  const isCut = ({ rows, totalRows }) => rows.length < totalRows;

  /**
   * How many keys, numbered from 0, a table has that lists a key with all of its rows or with none.
   * @type {(table: { columns: Column[], rows: Cell[][], totalRows: number }, key?: string) => number}
   */
  const keysWithRoom = (table, key = 'row') => {
    if (!isCut(table)) return Number.POSITIVE_INFINITY;
    const at = table.columns.findIndex(({ name }) => name === key);
    return table.rows.reduce((most, row) => Math.max(most, Number(row[at]) + 1), 0);
  };

  /**
   * How many threads have chosen rows, by the number of the row that they belong to.
   * @type {(table: Table<{ row: number, stream: number, bin: number }>) => Map<number, number>}
   */
  const threadsByRow = (table) => {
    const chosen = table.objects().filter(({ stream, bin }) => Chosen.holds(stream, bin));
    const streams = [...Data.grouped(chosen, ({ row }) => String(row))].map(([row, of]) => [Number(row), new Set(of.map(({ stream }) => stream)).size]);
    return new Map(/** @type {[number, number][]} */ (streams));
  };

  /** Tables that sums are made from aren't shown by themselves. @type {(table: { name: string }) => boolean} */
  const isSource = ({ name }) => name.endsWith('_moments');

  return { by, isCut, isSource, keysWithRoom, threadsByRow };
})();
