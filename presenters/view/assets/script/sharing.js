/** Cache lines that threads take from each other. */
const Sharing = (() => {
  /** @typedef {{ read_hand_overs: number, write_hand_overs: number }} HandOvers */

  /** Threads of a matrix: more columns can't be read. */
  const MAX_THREADS = 24;
  const MAX_LINES = 20;

  /** @type {(row: HandOvers) => number} */
  const sum = (row) => row.read_hand_overs + row.write_hand_overs;

  /**
   * @template {HandOvers} R
   * @param {R[]} rows
   * @param {keyof R} first
   * @param {keyof R} second
   * @returns {(a: Cell, b: Cell) => number}
   */
  const countsOf = (rows, first, second) => {
    const counts = new Map();
    for (const row of rows) {
      const key = `${row[first]} ${row[second]}`;
      counts.set(key, (counts.get(key) ?? 0) + sum(row));
    }
    return (a, b) => counts.get(`${a} ${b}`) ?? 0;
  };

  /**
   * Those with the most hand-overs, in the order of their numbers.
   * @template {HandOvers} R
   * @param {R[]} rows
   * @param {(row: R) => number[]} streamsOf
   */
  const threadsOf = (rows, streamsOf) => {
    /** @type {Map<number, number>} */
    const totals = new Map();
    for (const row of rows) for (const stream of streamsOf(row)) totals.set(stream, (totals.get(stream) ?? 0) + sum(row));
    const ranked = [...totals].sort((a, b) => b[1] - a[1]).slice(0, MAX_THREADS);
    return ranked.map(([thread]) => thread).sort((a, b) => a - b);
  };

  /**
   * What of a table is not in it, as its title says.
   * @type {(table: { title: string }) => string}
   */
  const cutOf = (table) => {
    const cut = /, \d.*$/.exec(table.title);
    return cut ? Texts.visible(cut[0]) : '';
  };

  /**
   * A matrix shows the largest; below it stands all that the page holds.
   * @template {Cells} R
   * @param {() => Child} matrix
   * @param {Table<R>} table
   */
  const withTable = (matrix, table) => {
    const plain = /** @type {Table} */ (/** @type {unknown} */ (table));
    return [Chosen.redrawn(matrix), Dom.details(`Table: ${Texts.visible(table.title)}`, () => ChosenTables.shown('sharing', plain))];
  };

  /** @type {(threads: number[]) => { key: number, title: string }[]} */
  const asColumns = (threads) => threads.map((thread) => ({ key: thread, title: `thread ${thread}` }));

  /** Transfers to the chosen threads in the chosen time, by the threads between which lines go; null if that isn't known. */
  const chosenPairs = () => {
    const moments = Data.table('sharing', 'pair_moments');
    return moments ? ChosenSums.by(moments, ['from_stream', 'to_stream'], 'to_stream') : null;
  };

  /** All of these transfers. */
  const chosenTransfers = () => [...(chosenPairs() ?? new Map()).values()].reduce((all, sums) => all + sums.read_hand_overs + sums.write_hand_overs, 0);

  /** @type {(table: Table<ThreadPair>) => Child} */
  const pairs = (table) => {
    const own = ChosenTables.of('sharing', /** @type {Table} */ (/** @type {unknown} */ (table)));
    if (own.rows.length === 0) return Dom.element('p', { class: 'status' }, `${Texts.visible(own.title)}: none.`);
    const of = Chosen.isAll() ? '' : ', of the chosen time and threads';
    const rows = /** @type {ThreadPair[]} */ (/** @type {unknown} */ (own.objects()));
    const threads = threadsOf(rows, (row) => [row.from_stream, row.to_stream]);
    return MatrixChart.create({
      title: `From thread (rows) to thread (columns): hand-overs of cache lines${cutOf(table)}${of}`,
      headTitles: ['from'],
      rows: threads.map((thread) => ({ key: thread, heads: [`thread ${thread}`] })),
      columns: asColumns(threads),
      count: countsOf(rows, 'from_stream', 'to_stream'),
    });
  };

  /** Lines in the order of the table, by their keys. @type {(rows: SharedLine[]) => Map<string, number>} */
  const ranksOf = (rows) => {
    /** @type {Map<string, number>} */
    const ranks = new Map();
    for (const row of rows) if (!ranks.has(lineKey(row))) ranks.set(lineKey(row), ranks.size);
    return ranks;
  };

  /** @type {(row: SharedLine) => string} */
  const lineKey = ({ process, line_address: address }) => `${process} ${address}`;

  /** Rows with what the chosen threads took in the chosen time; null if that isn't known. @type {(rows: SharedLine[]) => SharedLine[] | null} */
  const chosenLines = (rows) => {
    const moments = Data.table('sharing', 'shared_line_moments');
    if (!moments) return null;
    const [ranks, sums] = [ranksOf(rows), ChosenSums.by(moments, ['rank', 'to_stream'], 'to_stream')];
    return rows.flatMap((row) => {
      const own = sums.get(`${ranks.get(lineKey(row))} ${row.to_stream}`);
      return own ? [{ ...row, read_hand_overs: own.read_hand_overs, write_hand_overs: own.write_hand_overs }] : [];
    });
  };

  /** @type {(table: Table<SharedLine>) => Child} */
  const lines = (table) => {
    const chosen = Chosen.isAll() ? null : chosenLines(table.objects());
    const of = Chosen.isAll() ? '' : `, of ${chosen ? 'the chosen time and threads' : 'the whole trace'}`;
    const rows = chosen ?? table.objects();
    const keyed = rows.map((row) => ({ ...row, line: lineKey(row) }));
    /** @type {Map<string, { row: SharedLine, taken: number }>} */
    const found = new Map();
    for (const row of keyed) found.set(row.line, { row, taken: (found.get(row.line)?.taken ?? 0) + sum(row) });
    const ranked = [...found].sort(([, a], [, b]) => b.taken - a.taken).slice(0, MAX_LINES);
    if (ranked.length === 0) return Dom.element('p', { class: 'status' }, `Cache lines${of}: none.`);
    /** @type {(row: SharedLine) => string[]} */
    const heads = ({ line_address: address, field }) => [Texts.visible(address), Texts.visible(field)];
    return MatrixChart.create({
      title: `Cache lines (rows) by the thread that took them (columns)${cutOf(table)}${of}`,
      headTitles: ['cache line', 'mostly for'],
      rows: ranked.map(([key, { row }]) => ({ key, heads: heads(row) })),
      columns: asColumns(threadsOf(rows, (row) => [row.to_stream])),
      count: countsOf(keyed, 'line', 'to_stream'),
    });
  };

  /** None if the part is not there. */
  const create = () => {
    const part = Data.part('sharing');
    if (!part) return null;
    const [pairTable, lineTable] = [Data.table('sharing', 'thread_pairs'), Data.table('sharing', 'shared_lines')];
    /** @type {Child[]} */
    const content = [ChosenAnswers.shown(part)];
    const places = [Data.table('sharing', 'fields'), Data.table('sharing', 'lines')];
    if (pairTable && pairTable.rows.length > 0) content.push(withTable(() => pairs(pairTable), pairTable));
    if (lineTable && lineTable.rows.length > 0) content.push(withTable(() => lines(lineTable), lineTable));
    content.push(places.map((table) => (table && table.rows.length > 0 ? ChosenTables.shown('sharing', table) : null)));
    return content;
  };

  /** What it shows of the chosen time and threads. */
  const remark = () => {
    const moments = /** @type {const} */ (['field_moments', 'line_moments', 'pair_moments', 'shared_line_moments']).map((name) => Data.table('sharing', name));
    const lack = moments.some((table) => table && ChosenSums.isCut(table)) ? ' They lack those of the last rows.' : '';
    const whole = Data.table('sharing', 'shared_line_moments') ? '' : ' The matrix of cache lines is of the whole trace: they are too many.';
    return `Transfers are those by which a chosen thread took a line in the chosen time, from any thread.${lack}${whole} A slice has the chosen threads alone, and lines without owner at first.`;
  };

  return { create, remark, chosenPairs, chosenTransfers, chosenLines };
})();
