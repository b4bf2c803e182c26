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
    const found = CurveChart.chosenDistances();
    if (!found) return null;
    const { lineBytes, references, cold, distances } = found;
    const reused = references - cold;
    if (reused <= 0) return 'No cache line was accessed twice in the chosen time and threads';
    const further = distances.reduce((sum, [, count]) => sum + count, 0);
    // The smallest cache that catches so much: of one line, what is left by greater distances.
    /** @type {(share: number) => string} */
    const size = (share) => {
      let missing = reused * share - (reused - further);
      let lines = 1;
      for (const [from, count] of distances) {
        if (missing <= 0) break;
        missing -= count;
        lines = 2 * from;
      }
      return Numbers.bytes(lines * lineBytes);
    };
    const first = Numbers.percent(cold / references);
    return `For the chosen time and threads, an LRU cache of ${size(0.5)} catches half of the reuses, one of ${size(0.9)} 90 %; ${first} of the references are the first of their line`;
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
  const ANSWERS = { layout, reuse, memory, sharing };

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
