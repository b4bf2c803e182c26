/**
 * What is asked of regions first: how often, how long, how fast, how even. The rest stands behind it.
 *
 * Tables: columns `region`, `entries`, `time_ns`, `own_time_ns`, `raw_read_mb_per_s`, `time_imbalance`.
 */
const RegionChart = (() => {
  const COLUMNS = ['region', 'entries', 'time_ns', 'own_time_ns', 'raw_read_mb_per_s', 'time_imbalance'];
  /** @type {(keyof RegionRow)[]} */
  const RATES = ['read_mb_per_s', 'write_mb_per_s', 'raw_read_mb_per_s', 'raw_write_mb_per_s'];
  /** @type {(keyof RegionRow)[]} */
  const SHOWN = ['region', 'threads', 'entries', 'time_ns', ...RATES, 'rate_by', 'time_imbalance', 'bytes_imbalance'];
  /** @type {Column} */
  const SHARE = { name: 'time_share', title: 'of the regions’ time', unit: 'share' };
  const SHARE_POSITION = 4;

  /**
   * Where no entry was timed apart, there are only raw rates.
   * @type {(table: Table<RegionRow>, name: keyof RegionRow) => boolean}
   */
  const isKnown = (table, name) => !RATES.includes(name) || table.rows.some((row) => table.value(row, name) !== null);

  /**
   * Times are for people here.
   * @type {(column: Column) => Column}
   */
  const asShown = (column) => (column.name === 'time_ns' ? { ...column, title: 'time', unit: 'duration' } : column);

  /** @type {(table: Table<RegionRow>) => Table} */
  const summary = (table) => {
    const names = SHOWN.filter((name) => table.has(name) && isKnown(table, name));
    const all = table.rows.reduce((sum, row) => sum + (table.value(row, 'own_time_ns') ?? 0), 0);
    const columns = names.map((name) => asShown(table.column(name)));
    const rows = table.rows.map((row) => names.map((name) => table.value(row, name)));
    columns.splice(SHARE_POSITION, 0, SHARE);
    rows.forEach((row, index) => {
      const own = table.value(table.rows[index], 'own_time_ns') ?? 0;
      row.splice(SHARE_POSITION, 0, all > 0 ? own / all : null);
    });
    return new Data.Table({
      name: table.name,
      title: table.title,
      layout: 'rows',
      columns,
      rows,
      row_count: table.rowCount,
    });
  };

  const CAPTION =
    'Shares are of own time, without regions within. Raw MB/s have what counting costs in them; the others do not, by ' +
    'entries that were timed without being counted, or by a calibration of what counting costs. Imbalance is the ' +
    'greatest of the threads’ numbers over their mean: ×1 is even.';

  /** @type {(table: Table<RegionRow>) => Child} */
  const create = (table) => {
    if (table.rows.length === 0) return null;
    return Chart.figure(TableView.create(summary(table)), CAPTION, [table]);
  };

  return { COLUMNS, create };
})();
