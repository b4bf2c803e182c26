/**
 * The resolutions of a map: cells by time and address.
 *
 * Tables of one part, found by their columns:
 * - cells: `level` (0 is the coarsest), `time_bin`, `address_bin`, `reads`, `writes`, and `misses` if known; empty cells are left out.
 *   With `stream` a cell has a row for each thread; without, all are of thread 0
 * - scale of time: `level`, `time_bins`, `first_ns`, `bin_ns`
 * - scale of addresses: `level`, `address_bin`, `first_address`, `size_bytes`, and `name` and `first_row` if known: the row of
 *   the finest level where it begins; without, all bins of a level are equally high
 * Each level covers the same time and the same addresses.
 */
const MapLevels = (() => {
  const COLUMNS = ['level', 'time_bin', 'address_bin', 'reads', 'writes'];
  const TIMES = ['level', 'time_bins', 'first_ns', 'bin_ns'];
  const ADDRESSES = ['level', 'address_bin', 'first_address', 'size_bytes'];

  /**
   * What is drawn of a part; null if a scale is missing or no level has bins.
   * @type {(part: Part) => MapTables | null}
   */
  const tablesOf = ({ tables }) => {
    const [cells, times, addresses] = [COLUMNS, TIMES, ADDRESSES].map((columns) => tables.find((table) => table.has(...columns)));
    if (!cells || !times || !addresses) return null;
    const made = /** @type {MapTables} */ (/** @type {unknown} */ ({ cells, times, addresses }));
    const withTimes = new Set(made.times.objects().flatMap(({ level, time_bins: bins }) => (bins > 0 ? [level] : [])));
    return made.addresses.objects().some(({ level }) => withTimes.has(level)) ? made : null;
  };

  /**
   * Everything about one level: its cells by place, of the threads that hold, and its scales.
   * @type {(tables: MapTables, span: number, holds: (stream: number) => boolean) => MapLevel[]}
   */
  const read = ({ cells, times, addresses }, span, holds) => {
    /** @type {Map<number, MapLevel>} */
    const levels = new Map();
    for (const time of times.objects()) {
      levels.set(time.level, { ...time, cells: new Map(), addresses: [], addressBins: 0, width: 0, edges: [] });
    }
    for (const address of addresses.objects()) {
      const level = levels.get(address.level);
      if (!level) continue;
      level.addresses[address.address_bin] = address;
      level.addressBins = Math.max(level.addressBins, address.address_bin + 1);
    }
    // There are many: not even their columns are looked for one by one.
    const [number, time, address, reads, writes, misses, stream] = [...COLUMNS, 'misses', 'stream'].map((name) => cells.position(name));
    for (const row of /** @type {number[][]} */ (cells.rows)) {
      const level = levels.get(row[number]);
      if (!level || !holds(stream < 0 ? 0 : row[stream])) continue;
      const place = row[time] * level.addressBins + row[address];
      const known = level.cells.get(place);
      if (known) {
        known.reads += row[reads];
        known.writes += row[writes];
        continue;
      }
      level.cells.set(place, { time_bin: row[time], address_bin: row[address], reads: row[reads], writes: row[writes], misses: row[misses] });
    }
    const sorted = [...levels.values()]
      .filter((level) => level.time_bins > 0 && level.addressBins > 0)
      .sort((a, b) => a.level - b.level);
    for (const level of sorted) place(level, sorted[sorted.length - 1], span);
    return sorted;
  };

  /**
   * Where bins are, in parts of the whole map: each bin of time has the same width, addresses have edges.
   * @type {(level: MapLevel, finest: MapLevel, span: number) => void}
   */
  const place = (level, finest, span) => {
    level.width = level.bin_ns / (span || lengthOf(finest));
    level.edges = Array.from({ length: level.addressBins }, (_, bin) => {
      const row = level.addresses[bin]?.first_row;
      return row === undefined ? bin / level.addressBins : row / finest.addressBins;
    });
    level.edges.push(1);
  };

  /** Nanoseconds that a scale of time covers. @type {(times: MapTimes) => number} */
  const lengthOf = ({ time_bins: bins, bin_ns: width }) => bins * width;

  /**
   * The bin of addresses at that height.
   * @type {(level: MapLevel, y: number) => number}
   */
  const binAt = (level, y) => {
    let [low, high] = [0, level.addressBins - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (level.edges[middle] <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  };

  /**
   * Successive bins of one name. Where other memory lies between two of them, they are numbered: `name 1/2`.
   * @type {(level: MapLevel) => MapStretch[]}
   */
  const stretchesOf = (level) => {
    /** @type {MapStretch[]} */
    const made = [];
    for (let bin = 0; bin < level.addressBins; bin += 1) {
      const range = level.addresses[bin];
      const name = Texts.visible(range?.name ?? (range ? Numbers.hexadecimal(range.first_address) : ''));
      const last = made.at(-1);
      if (last?.name === name) last.end = bin + 1;
      else made.push({ name, suffix: '', bin, end: bin + 1 });
    }
    for (const namesakes of Data.grouped(made, ({ name }) => name).values()) {
      namesakes.forEach((stretch, index) => {
        if (namesakes.length > 1) stretch.suffix = ` ${index + 1}/${namesakes.length}`;
      });
    }
    return made;
  };

  return { COLUMNS, TIMES, ADDRESSES, tablesOf, read, lengthOf, binAt, stretchesOf };
})();
