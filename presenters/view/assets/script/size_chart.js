/**
 * How wide the accesses of each region are: a bar of them by size.
 *
 * Tables: columns `region`, `size_bytes`, `reads`, `writes`; size 0 stands for copies and fills.
 */
const SizeChart = (() => {
  const COLUMNS = ['region', 'size_bytes', 'reads', 'writes'];

  /** @type {(size: number) => string} */
  const nameOf = (size) => (size === 0 ? 'blocks' : `${size} B`);

  /** @type {(table: Table<AccessSize>) => Child} */
  const create = (table) => {
    const found = table.objects();
    const sizes = [...new Set(found.map((row) => row.size_bytes))].sort((a, b) => a - b);
    const regions = new Map(found.map((row) => [row.region, sizes.map(() => 0)]));
    for (const row of found) {
      const values = regions.get(row.region);
      if (values) values[sizes.indexOf(row.size_bytes)] += row.reads + row.writes;
    }
    if (regions.size === 0) return null;
    const bars = StackedBars.create({
      label: `Accesses of ${regions.size} regions by their size`,
      counted: 'accesses',
      kinds: sizes.map(nameOf),
      rows: [...regions].map(([region, values]) => ({ name: Texts.visible(region), values })),
    });
    const caption =
      'Reads and writes by the bytes of each; an update counts as both. Blocks are copies and fills, ' +
      'whose length depends on the execution.';
    return Chart.section(table.title, Chart.figure(bars, caption, [table]));
  };

  return { COLUMNS, create };
})();
