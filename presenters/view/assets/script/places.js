/** Places in the source with what they cost: sums by any of their names, in any part of time, of any threads and paths. */
const Places = (() => {
  /** @typedef {'field' | 'variable' | 'type' | 'function' | 'line' | 'file' | 'kind'} Key */
  /** @typedef {{ number: number, file: string | null, line: number | null, keys: Record<Key, string>, counts: number[] }} Place */

  /** Lines of samples and of counts are places, too, without times and paths. */
  const LINES = /** @type {[string, string][]} */ ([['places', 'places'], ['samples', 'sample_lines'], ['regions', 'region_lines']]);

  /** @type {() => Table | undefined} */
  const found = () => {
    const tables = LINES.map(([part, name]) => Data.part(part)?.tables.find((candidate) => candidate.name === name));
    return tables.find((candidate) => candidate?.has('file', 'line') && candidate.rows.length > 0);
  };

  const table = found();
  const moments = Data.table('places', 'place_moments');

  /** Numbers of a place: accesses, bytes, misses of each level; of samples and counts what they have. */
  const measures = (table?.columns ?? []).filter(({ name, unit }) => (unit === 'count' || unit === 'bytes') && name !== 'line');
  const positions = measures.map(({ name }) => table?.position(name) ?? 0);
  const zero = () => measures.map(() => 0);

  /** @type {(file: string | null, line: number | null) => string} */
  const lineName = (file, line) => (file && line !== null ? `${file}:${line}` : '(unknown)');

  /** @type {Place[]} */
  const all = (table?.rows ?? []).map((row, number) => {
    /** @type {(name: string) => string} */
    const text = (name) => String(table?.value(row, name) ?? '');
    const file = text('file') || null;
    const line = table?.value(row, 'line') ?? null;
    const place = { field: text('field'), variable: text('variable'), type: text('type'), function: text('function') };
    const keys = { ...place, kind: text('kind'), file: file ?? '(unknown)', line: lineName(file, Number(line ?? 0)) };
    const counts = positions.map((position) => Number(row[position] ?? 0));
    return { number, file, line: line === null ? null : Number(line), keys, counts };
  });

  /** @type {Map<Key, Map<string, Place[]>>} */
  const indices = new Map();

  /**
   * Places by one of their names.
   * @type {(key: Key) => Map<string, Place[]>}
   */
  const by = (key) => {
    const known = indices.get(key);
    if (known) return known;
    /** @type {Map<string, Place[]>} */
    const made = new Map();
    for (const place of all) {
      const found = made.get(place.keys[key]);
      if (found) found.push(place);
      else made.set(place.keys[key], [place]);
    }
    indices.set(key, made);
    return made;
  };

  /** @type {(key: string, name: string) => boolean} */
  const has = (key, name) => name !== '(others)' && name !== '' && isKey(key) && by(key).has(name);

  const KEYS = ['field', 'variable', 'type', 'function', 'line', 'file', 'kind'];

  /**
   * @param {string} key
   * @returns {key is Key}
   */
  const isKey = (key) => KEYS.includes(key);

  /** @type {(into: number[], counts: number[]) => void} */
  const add = (into, counts) => {
    for (let index = 0; index < into.length; index += 1) into[index] += counts[index];
  };

  /** Cells of a row of a joint table after its keys. @type {(row: Cell[], keys: number) => number[]} */
  const countsOf = (row, keys) => row.slice(keys).map(Number);

  /** Sums of the selection by the number of the place. @type {number[][] | null} */
  let selected = null;
  Chosen.onChange(() => {
    selected = null;
  });

  /**
   * What each place costs in the selection.
   * @type {() => number[][]}
   */
  const counts = () => {
    if (selected) return selected;
    if (Chosen.isAll()) return all.map((place) => place.counts);
    const sums = all.map(zero);
    for (const row of moments?.rows ?? []) {
      const [place, stream, bin] = /** @type {number[]} */ (row);
      if (Chosen.holds(stream, bin) && sums[place]) add(sums[place], countsOf(row, 3));
    }
    selected = sums;
    return sums;
  };

  /** @type {(places: Iterable<Place>) => number[]} */
  const sum = (places) => {
    const sums = counts();
    const total = zero();
    for (const place of places) add(total, sums[place.number]);
    return total;
  };

  /** All accesses of the selection. @type {() => number} */
  const accesses = () => {
    const position = measures.findIndex(({ name }) => name === 'accesses');
    return sum(all)[position] ?? 0;
  };

  /** Whether the chosen time and threads hold no access at all. */
  const isNothing = () => all.length > 0 && sum(all).every((count) => count === 0);

  /** Position of the measure by which the page ranks. */
  const ranking = Math.max(0, measures.findIndex(({ name }) => name === Data.page.rank_by));

  /**
   * Sums of places by a name, the largest first.
   * @type {(key: Key, places?: Place[]) => { name: string, places: Place[], counts: number[] }[]}
   */
  const grouped = (key, places = all) => {
    const sums = counts();
    /** @type {Map<string, { name: string, places: Place[], counts: number[] }>} */
    const groups = new Map();
    for (const place of places) {
      const name = place.keys[key];
      const group = groups.get(name) ?? { name, places: [], counts: zero() };
      groups.set(name, group);
      group.places.push(place);
      add(group.counts, sums[place.number]);
    }
    const made = [...groups.values()].filter((group) => group.counts[0] > 0);
    return made.sort((a, b) => b.counts[ranking] - a.counts[ranking] || b.counts[0] - a.counts[0]);
  };

  /**
   * Sums by thread and by bin of time, whatever is selected.
   * @type {(places?: Place[]) => { streams: Map<number, number[]>, bins: number[][] }}
   */
  const overTime = (places) => {
    const wanted = places ? new Set(places.map(({ number }) => number)) : null;
    /** @type {Map<number, number[]>} */
    const streams = new Map();
    const bins = Array.from({ length: Chosen.bins }, zero);
    for (const row of moments?.rows ?? []) {
      const [place, stream, bin] = /** @type {number[]} */ (row);
      if (wanted && !wanted.has(place)) continue;
      const own = countsOf(row, 3);
      if (bins[bin]) add(bins[bin], own);
      const sums = streams.get(stream) ?? zero();
      streams.set(stream, sums);
      if (bin >= Chosen.now().first && bin <= Chosen.now().last) add(sums, own);
    }
    return { streams, bins };
  };

  /** Whether rows of the least accessed places are missing, so that sums of a part of time or of some threads lack them. */
  const isCut = moments !== undefined && moments.rows.length < moments.totalRows;

  /** All threads with a place, in order. */
  const streams = [...new Set((moments?.rows ?? []).map((row) => Number(row[1])))].sort((a, b) => a - b);

  return { measures, ranking, all, by, has, isKey, sum, accesses, isNothing, grouped, overTime, isCut, streams, zero, add, countsOf };
})();
