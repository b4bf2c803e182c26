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

  /** Tables that sums are made from aren't shown by themselves. @type {(table: { name: string }) => boolean} */
  const isSource = ({ name }) => name.endsWith('_moments');

  return { by, isCut, isSource };
})();
