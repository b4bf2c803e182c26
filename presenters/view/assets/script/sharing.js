/** Cache lines that threads take from each other. */
const Sharing = (() => {
  /** Threads of a matrix: more columns can't be read. */
  const MAX_THREADS = 24;
  const MAX_LINES = 20;

  const sum = (row) => row.read_hand_overs + row.write_hand_overs;

  const countsOf = (rows, first, second) => {
    const counts = new Map();
    for (const row of rows) {
      const key = `${row[first]} ${row[second]}`;
      counts.set(key, (counts.get(key) ?? 0) + sum(row));
    }
    return (a, b) => counts.get(`${a} ${b}`) ?? 0;
  };

  /** Those with the most hand-overs, in the order of their numbers. */
  const threadsOf = (rows, ...columns) => {
    const totals = new Map();
    for (const row of rows) for (const column of columns) totals.set(row[column], (totals.get(row[column]) ?? 0) + sum(row));
    const ranked = [...totals].sort((a, b) => b[1] - a[1]).slice(0, MAX_THREADS);
    return ranked.map(([thread]) => thread).sort((a, b) => a - b);
  };

  /** What of a table is not in it, as its title says. */
  const cutOf = (table) => {
    const comma = table.title.indexOf(',');
    return comma < 0 ? '' : Text.visible(table.title.slice(comma));
  };

  /** A matrix shows the largest; below it stands all that the page holds. */
  const withTable = (matrix, table) => [matrix, Dom.details(`Table: ${Text.visible(table.title)}`, () => TableView.create(table))];

  const asColumns = (threads) => threads.map((thread) => ({ key: thread, title: `thread ${thread}` }));

  const pairs = (table) => {
    const rows = table.objects();
    const threads = threadsOf(rows, 'from_stream', 'to_stream');
    return MatrixChart.create({
      title: `From thread (rows) to thread (columns): hand-overs of cache lines${cutOf(table)}`,
      headTitles: ['from'],
      rows: threads.map((thread) => ({ key: thread, heads: [`thread ${thread}`] })),
      columns: asColumns(threads),
      count: countsOf(rows, 'from_stream', 'to_stream'),
    });
  };

  const lines = (table) => {
    const rows = table.objects();
    const keyed = rows.map((row) => ({ ...row, line: `${row.process} ${row.line_address}` }));
    const firsts = new Map();
    for (const row of keyed) if (!firsts.has(row.line)) firsts.set(row.line, row);
    const heads = ({ line_address: address, field }) => [Text.visible(address), Text.visible(field)];
    return MatrixChart.create({
      title: `Cache lines (rows) by the thread that took them (columns)${cutOf(table)}`,
      headTitles: ['cache line', 'mostly for'],
      rows: [...firsts.values()].slice(0, MAX_LINES).map((row) => ({ key: row.line, heads: heads(row) })),
      columns: asColumns(threadsOf(rows, 'to_stream')),
      count: countsOf(keyed, 'line', 'to_stream'),
    });
  };

  /** None if the part is not there. */
  const create = () => {
    const part = Data.part('sharing');
    if (!part) return null;
    const [pairTable, lineTable] = [Data.table('sharing', 'thread_pairs'), Data.table('sharing', 'shared_lines')];
    const content = [Dom.element('p', {}, Text.visible(part.answer))];
    const places = ['fields', 'lines'].map((name) => Data.table('sharing', name)).filter((table) => table?.rows.length > 0);
    if (pairTable?.rows.length > 0) content.push(withTable(pairs(pairTable), pairTable));
    if (lineTable?.rows.length > 0) content.push(withTable(lines(lineTable), lineTable));
    content.push(places.map((table) => TableView.create(table)));
    return content;
  };

  return { create };
})();
