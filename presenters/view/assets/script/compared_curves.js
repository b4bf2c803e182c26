/** Miss-ratio curves of two traces in one chart. */
const ComparedCurves = (() => {
  /** @type {(part: Part) => Map<string, CurvePoint[]>} */
  const groupsOf = ({ tables }) => {
    const table = /** @type {Table<CurvePoint> | undefined} */ (/** @type {unknown} */ (tables.find((candidate) => candidate.has(...CurveChart.COLUMNS))));
    return Data.grouped(table?.objects() ?? [], ({ group }) => group);
  };

  /** None without curves that both traces have. */
  const create = () => {
    const pair = Comparison.pair('reuse');
    if (!pair) return null;
    const [before, after] = pair.map(groupsOf);
    const rows = [...after].flatMap(([group, points]) => {
      const earlier = before.get(group);
      if (!earlier) return [];
      /** @type {(trace: string, of: CurvePoint[]) => Cell[][]} */
      const named = (trace, of) => of.map(({ size_bytes: size, miss_ratio: ratio }) => [`${trace}: ${group}`, size, ratio]);
      return [...named('first', earlier), ...named('second', points)];
    });
    if (rows.length === 0) return null;
    /** @type {Column[]} */
    const columns = [
      { name: 'group', title: 'trace and accesses', unit: 'text' },
      { name: 'size_bytes', title: 'size', unit: 'bytes' },
      { name: 'miss_ratio', title: 'miss ratio', unit: 'share' },
    ];
    const title = 'Miss ratio of LRU caches of both traces, by size';
    /** @type {RawTable} */
    const raw = { name: 'curves', title, layout: 'rows', columns, rows, row_count: rows.length };
    return CurveChart.createPaired(/** @type {Table<CurvePoint>} */ (/** @type {unknown} */ (new Data.Table(raw))));
  };

  return { create };
})();
