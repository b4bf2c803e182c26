/** The sentences of parts for the chosen time and threads. */
const ChosenAnswers = (() => {
  /** The structure with the most of the ranking measure. @type {() => string | null} */
  const layout = () => {
    if (!LayoutSums.isKnown) return null;
    const { title } = Places.measures[Places.ranking];
    const [first] = [...LayoutSums.byType()].map(([type, counts]) => ({ type, count: counts[Places.ranking] })).sort((a, b) => b.count - a.count);
    const whole = Places.sum(Places.all)[Places.ranking];
    if (!first || first.count === 0 || whole === 0) return `No structure has ${title} in the chosen time and threads`;
    return `In the chosen time and threads, ${first.type} has the most ${title} of all structures: ${Numbers.percent(first.count / whole)}`;
  };

  /** How large caches must be, at powers of two. @type {() => string | null} */
  const reuse = () => {
    const found = ChosenDistances.all();
    if (!found) return null;
    const [half, most] = [0.5, 0.9].map((share) => ChosenDistances.quantile(found, share));
    if (half === null || most === null) return 'No cache line was accessed twice in the chosen time and threads';
    // Of one line, or twice the power of two from which the distances go on.
    /** @type {(from: number) => string} */
    const size = (from) => Numbers.bytes(Math.max(2 * from, 1) * ChosenDistances.lineBytes);
    const first = Numbers.percent(found.cold / found.references);
    return `For the chosen time and threads, an LRU cache of ${size(half)} catches half of the reuses, one of ${size(most)} 90 %; ${first} of the references are the first of their line`;
  };

  /** The memory that was accessed most. @type {() => string | null} */
  const map = () => {
    const owners = Data.table('map', 'owners');
    if (!owners || !Data.table('map', 'owner_moments')) return null;
    const [first] = ChosenTables.of('map', owners).objects();
    if (!first) return null;
    return `In the chosen time, ${first.name} has ${Numbers.percent(Number(first.share))} of the accesses of the chosen threads`;
  };

  /** @type {() => string | null} */
  const memory = () => {
    const part = Data.part('memory');
    const [live, moments] = [part?.tables.find(({ name }) => name === 'memory_over_time'), Data.table('memory', 'allocation_moments')];
    if (!live || !moments) return null;
    const most = ChosenTables.of('memory', live).objects().reduce((sum, row) => Math.max(sum, Number(row.most_bytes)), 0);
    const { allocations = 0, allocated_bytes: bytes = 0 } = ChosenSums.by(moments, []).get('') ?? {};
    const allocated = allocations > 0 ? `${Numbers.counted(allocations, 'block')} of ${Numbers.grouped(bytes)} bytes in all` : 'nothing';
    return `In the chosen time, at most ${Numbers.grouped(most)} bytes were live at once; the chosen threads allocated ${allocated}`;
  };

  /** @type {() => string | null} */
  const sharing = () => {
    const fields = Data.table('sharing', 'fields');
    if (!fields || !Data.table('sharing', 'field_moments')) return null;
    const [first] = ChosenTables.of('sharing', fields).objects();
    if (!first) return 'No chosen thread took a cache line from another one in the chosen time';
    return `${first.field} is ${Numbers.percent(Number(first.share))} of the hand-overs of cache lines to the chosen threads in the chosen time`;
  };

  /** @type {Record<string, () => string | null>} */
  const ANSWERS = { layout, reuse, map, memory, sharing };

  /**
   * The part's sentence; while something is chosen, that of the choice. One of the whole trace says so.
   * @type {(part: Part) => string}
   */
  const of = ({ name, answer }) => {
    if (Chosen.isAll() || !answer) return answer;
    return ANSWERS[name]?.() ?? `${answer} (of the whole trace)`;
  };

  /** @type {(part: Part) => Child} */
  const shown = (part) => (part.answer ? Chosen.redrawn(() => Dom.element('p', {}, Names.sentence(of(part)))) : null);

  return { shown };
})();
