/**
 * Reuse distances of the chosen time and threads, of all accesses and of each field. The page has them by powers of two, in
 * lines: those from one power to the next count together.
 */
const ChosenDistances = (() => {
  /** @typedef {{ accesses: number, references: number, cold: number, distances: [from: number, count: number][] }} Found */

  const lineBytes = Data.record('reuse', 'reuse').line_bytes ?? 0;
  const moments = Data.table('reuse', 'reuse_moments');
  const fields = Data.table('reuse', 'fields');
  const fieldMoments = Data.table('reuse', 'field_reuse_moments');

  /** @type {(columns: Column[], sums: Record<string, number>) => Found} */
  const asFound = (columns, sums) => {
    const distances = columns.flatMap(({ name }) => {
      const from = name.startsWith('from_') ? Number(name.slice('from_'.length)) : 0;
      return from > 0 ? [/** @type {[number, number]} */ ([from, sums[name] ?? 0])] : [];
    });
    return { accesses: sums.accesses ?? 0, references: sums.references ?? 0, cold: sums.cold ?? 0, distances };
  };

  /** Null if that isn't known, or nothing is chosen. @type {() => Found | null} */
  const all = () => {
    if (Chosen.isAll() || !moments || lineBytes === 0) return null;
    return asFound(moments.columns, ChosenSums.by(moments, []).get('') ?? {});
  };

  /** Fields by the names of their curves. */
  const rows = new Map((fields?.objects() ?? []).map((row, number) => [Texts.visible(row.field), number]));
  /** Fields after that many have no room for their times. */
  const withRoom = fieldMoments ? ChosenSums.keysWithRoom(fieldMoments) : 0;

  /** Sums by the field's row. @type {ReturnType<typeof ChosenSums.by> | null} */
  let sums = null;
  Chosen.onChange(() => {
    sums = null;
  });

  /** Null if that isn't known, or nothing is chosen. @type {(name: string) => Found | null} */
  const ofField = (name) => {
    const row = rows.get(name) ?? withRoom;
    if (Chosen.isAll() || !fieldMoments || lineBytes === 0 || row >= withRoom) return null;
    sums ??= ChosenSums.by(fieldMoments, ['row']);
    return asFound(fieldMoments.columns, sums.get(String(row)) ?? {});
  };

  /** Fields of the table whose times have no room. */
  const withoutRoom = Math.max(rows.size - withRoom, 0);

  /**
   * References that miss an LRU cache of so many lines. What lies between two powers of two is taken as evenly spread.
   * @type {(found: Found, lines: number) => number}
   */
  const misses = ({ references, cold, distances }, lines) => {
    const missed = distances.reduce((sum, [from, count]) => sum + count * Chart.clamp((2 * from - lines) / from, 0, 1), cold);
    return Math.min(missed, references);
  };

  /** @type {(found: Found) => { size_bytes: number, miss_ratio: number }[]} */
  const curve = (found) => {
    if (found.references === 0) return [];
    const sizes = found.distances.map(([from]) => from);
    const ends = [...sizes, 2 * (sizes[sizes.length - 1] ?? 0.5)];
    return ends.map((lines) => ({ size_bytes: lines * lineBytes, miss_ratio: misses(found, lines) / found.references }));
  };

  /**
   * The power of two from which, or 0 lines, the distances go on at which this share of the reuses ends; null without reuses.
   * @type {(found: Found, share: number) => number | null}
   */
  const quantile = ({ references, cold, distances }, share) => {
    const reused = references - cold;
    if (reused <= 0) return null;
    const further = distances.reduce((sum, [, count]) => sum + count, 0);
    let missing = reused * share - (reused - further);
    if (missing <= 0) return 0;
    for (const [from, count] of distances) {
      missing -= count;
      if (missing <= 0) return from;
    }
    return distances[distances.length - 1]?.[0] ?? 0;
  };

  const SIZE = 'miss_ratio_';

  /** Whether the table has caches whose number of lines is no power of two. */
  const isEstimated = (fields?.columns ?? []).some(({ name }) => name.startsWith(SIZE) && !Number.isInteger(Math.log2(linesOf(name))));

  /** @param {string} column */
  function linesOf(column) {
    return Number(column.slice(SIZE.length)) / lineBytes;
  }

  /** @type {(table: Table, name: Cell, found: Found) => Cells} */
  const fieldRow = (table, name, found) => {
    const sizes = table.columns.filter((column) => column.name.startsWith(SIZE));
    const ratios = sizes.map((column) => [column.name, misses(found, linesOf(column.name)) / found.references]);
    const { accesses, references } = found;
    const cold = Math.min(found.cold / references, 1);
    const distances = { median_distance: quantile(found, 0.5), p90_distance: quantile(found, 0.9) };
    return { field: name, accesses, references, cold, ...distances, ...Object.fromEntries(ratios) };
  };

  /** Fields with references; null if they aren't known. @type {(table: Table) => Cells[] | null} */
  const fieldRows = (table) => {
    if (withRoom === 0) return null;
    return table.objects().flatMap((row) => {
      const found = ofField(Texts.visible(row.field));
      return found && found.references > 0 ? [fieldRow(table, row.field, found)] : [];
    });
  };

  /** What tables and curves of fields show. @type {() => string} */
  const remark = () => {
    if (withRoom === 0) return 'The curves and the table of fields are of the whole trace.';
    const estimated = isEstimated ? ' Misses of caches between two powers of two are estimated.' : '';
    const lack = withoutRoom > 0 ? ` For the times of ${Numbers.counted(withoutRoom, 'field')} the page has no room: the table lacks them, and their curves are of the whole trace.` : '';
    return `Distances are rounded down to powers of two.${estimated}${lack}`;
  };

  return { all, ofField, curve, quantile, fieldRows, remark, lineBytes };
})();
