/** What the first of two compared traces has and the second one, which the page is of, has no more. */
const Comparison = (() => {
  const KINDS = ['field', 'variable', 'type', 'function'];

  /** @type {Map<string, Table>} */
  const gone = new Map();

  /** @type {(kind: string, name: string) => string} */
  const keyOf = (kind, name) => `${kind} ${name}`;

  /** The rows of a table that say that what they name is gone. @type {(table: Table, kind: string) => void} */
  const note = (table, kind) => {
    for (const row of table.rows.filter((candidate) => table.value(candidate, 'state') === 'gone')) {
      const key = keyOf(kind, String(table.value(row, kind)));
      const rows = [...(gone.get(key)?.rows ?? []), row];
      const { name, title, columns } = table;
      gone.set(key, new Data.Table({ name, title, layout: 'rows', columns, rows, row_count: rows.length }));
    }
  };

  for (const table of Data.part('comparison')?.tables ?? []) {
    // The first column says what a row is of: a function stands beside variables, too.
    const kind = table.columns[0]?.name;
    if (KINDS.includes(kind)) note(table, kind);
  }

  /**
   * The numbers of what is gone; undefined if it isn't.
   * @type {(kind: string, name: string) => Table | undefined}
   */
  const goneRows = (kind, name) => gone.get(keyOf(kind, name));

  /** The same part of the first and of the second trace, if both have it. @type {(name: string) => [Part, Part] | null} */
  const pair = (name) => {
    const [first, second] = [Data.first.find((candidate) => candidate.name === name), Data.part(name)];
    return first && second ? [first, second] : null;
  };

  /** Whether something is there in one of the traces alone. @type {(before: number, after: number) => 'new' | 'gone' | null} */
  const stateOf = (before, after) => (before === 0 && after > 0 ? 'new' : before > 0 && after === 0 ? 'gone' : null);

  /** "−89.3 %", "new" or "gone": how a number changed, in parts of what it was. @type {(before: number, after: number) => string} */
  const changeOf = (before, after) => {
    if (before === after) return '±0 %';
    const sign = after > before ? '+' : '−';
    return stateOf(before, after) ?? `${sign}${Numbers.percent(Math.abs(after - before) / before)}`;
  };

  return { goneRows, pair, stateOf, changeOf };
})();
