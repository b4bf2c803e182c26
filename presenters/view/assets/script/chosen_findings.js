/** What the overview says of the chosen time and threads: its numbers, and the data that costs most. */
const ChosenFindings = (() => {
  /** Numbers of all places, by their names. @type {() => Record<string, number>} */
  const sumsByName = () => {
    const sums = Places.sum(Places.all);
    return Object.fromEntries(Places.measures.map(({ name }, position) => [name, sums[position]]));
  };

  /** @type {() => Tile[]} */
  const tiles = () => {
    const sums = sumsByName();
    const levels = Places.measures.filter(({ name }) => name.endsWith('_misses'));
    const misses = levels.map(({ name, title }, level) => {
      const [of, whose] = level === 0 ? [sums.accesses, 'the accesses'] : [sums[levels[level - 1].name], `the ${levels[level - 1].title}`];
      return /** @type {Tile} */ ([title, Numbers.short(sums[name]), of > 0 ? `${Numbers.percent(sums[name] / of)} of ${whose}` : '']);
    });
    const active = [...Places.overTime().streams].filter(([stream, counts]) => Chosen.holdsStream(stream) && counts.some((count) => count > 0));
    const [from, to] = Chosen.times();
    /** @type {Tile[]} */
    const made = [
      ['accesses', Numbers.short(sums.accesses), `${Numbers.bytes(sums.bytes)} accessed`],
      ...misses,
      ['threads', Numbers.grouped(active.length), `of ${Numbers.grouped(Places.streams.length)}, in ${Numbers.duration(to - from)}`],
    ];
    if (Sharing.chosenPairs()) made.push(['hand-overs', Numbers.short(Sharing.chosenTransfers()), 'to these threads']);
    return made;
  };

  /** Fields with a smaller part of the whole aren't suspect; at most so many are shown. */
  const [LEAST_SHARE, MOST_SUSPECTS] = [0.02, 5];

  /** The site that contributes most. @type {(group: ReturnType<typeof Places.grouped>[number]) => Pick<Suspect, 'sentence' | 'file' | 'line'>} */
  const mainPlace = ({ places, counts }) => {
    /** @type {(place: (typeof places)[number]) => number} */
    const cost = (place) => Places.sum([place])[Places.ranking];
    const main = places.reduce((most, place) => (cost(place) > cost(most) ? place : most));
    const { file, line, keys } = main;
    if (file === null || line === null) return { sentence: '', file, line };
    const part = cost(main) === counts[Places.ranking] ? 'All' : Numbers.percent(cost(main) / counts[Places.ranking]);
    return { sentence: ` ${part} of them by the ${keys.kind} at ${file}:${line}, in ${keys.function}.`, file, line };
  };

  /** The fields that cause most of what is chosen. @type {() => Suspect[]} */
  const missing = () => {
    const whole = Places.sum(Places.all)[Places.ranking];
    const { title } = Places.measures[Places.ranking];
    const found = Places.grouped('field').filter(({ name, counts }) => name !== '(others)' && counts[Places.ranking] >= whole * LEAST_SHARE);
    return found.slice(0, MOST_SUSPECTS).map((group) => {
      const [count, main] = [group.counts[Places.ranking], mainPlace(group)];
      const share = whole > 0 ? count / whole : 0;
      const sentence = `${Numbers.grouped(count)} ${Numbers.wordsOf(count, title)}, ${Numbers.percent(share)} of those chosen.${main.sentence}`;
      return { part: 'misses', name: group.name, share, ...main, sentence };
    });
  };

  /** The fields whose lines the chosen threads took most often. @type {() => Suspect[]} */
  const shared = () => {
    const table = Data.table('sharing', 'fields');
    if (!table || !Data.table('sharing', 'field_moments')) return [];
    const found = ChosenTables.of('sharing', table).objects().filter(({ share }) => Number(share) >= LEAST_SHARE);
    return found.slice(0, MOST_SUSPECTS).map((row) => {
      const transfers = Number(row.read_hand_overs) + Number(row.write_hand_overs);
      const sentence = `${Numbers.counted(transfers, 'hand-over')} of its cache lines, ${Numbers.percent(Number(row.share))} of those chosen.`;
      return { part: 'sharing', name: String(row.field), share: Number(row.share), sentence, file: null, line: null };
    });
  };

  return { tiles, missing, shared };
})();
