/** The findings in a few sentences and numbers. */
const Overview = (() => {
  /** What the tiles stand for. @type {Record<string, string>} */
  const TERMS = {
    accesses: 'Executions of loads, stores and atomic operations; each side of a copy or fill is one.',
    'from memory': 'Lines that the last simulated cache fetched from memory, in bytes, and changed ones that it wrote back.',
    threads: 'Streams of records, one for each thread, and how long the recording took.',
    'hand-overs': 'Accesses that had to take their cache line from another thread.',
    regions: 'Parts of the program that were counted by name.',
    'time of the threads': 'Time of all threads since they first counted, with waiting.',
    read: 'Bytes that accesses in regions read: not traffic with memory.',
    written: 'Bytes that accesses in regions write: not traffic with memory.',
    'greatest imbalance': 'The greatest of one thread ÷ the mean of all threads.',
    samples: 'Moments at which it was looked what a thread was at.',
    'at known memory': 'Samples whose own access goes to memory of which the owner is known.',
    'without access': 'Samples at instructions that access no memory.',
    'at unknown addresses': 'Samples of an access without an address.',
    lost: 'Samples for which the kernel had no room.',
  };

  /** @type {() => Tile[]} */
  const ratioTiles = () =>
    (Data.table('misses', 'caches')?.objects() ?? []).map((level) => [
      `L${level.level} misses`,
      Numbers.short(level.misses),
      level.miss_ratio === null ? '' : `${Numbers.percent(level.miss_ratio)} of ${Numbers.short(level.reached)}`,
    ]);

  /** @type {(rows: RegionRow[], column: 'bytes_read' | 'bytes_written') => number} */
  const sum = (rows, column) => rows.reduce((all, row) => all + (row[column] ?? 0), 0);

  /**
   * Of programs that count.
   * @type {() => Tile[]}
   */
  const countTiles = () => {
    const table = Data.table('regions', 'regions');
    if (!table) return [];
    const counts = Data.record('regions', 'counts');
    const rows = table.objects();
    const all = table.totalRows;
    const of = rows.length < all ? `in ${Numbers.grouped(rows.length)} of ${Numbers.grouped(all)} regions` : '';
    const outside = counts.outside ?? null;
    /** @type {Tile[]} */
    const made = [
      ['regions', Numbers.grouped(all), Numbers.counted(counts.threads ?? 0, 'thread')],
      [
        'time of the threads',
        Numbers.duration(counts.time_ns ?? 0),
        outside === null ? '' : `${Numbers.percent(outside)} outside of regions`,
      ],
      ['read', Numbers.bytes(sum(rows, 'bytes_read')), of],
      ['written', Numbers.bytes(sum(rows, 'bytes_written')), of],
    ];
    const shared = rows.flatMap(({ region, threads, time_imbalance: imbalance }) =>
      threads > 1 && imbalance !== null ? [{ region, imbalance }] : [],
    );
    const [first, ...others] = shared;
    if (first) {
      const worst = others.reduce((most, row) => (most.imbalance >= row.imbalance ? most : row), first);
      const place = `of time, in ${Texts.shortened(Texts.visible(worst.region), 40)}`;
      made.push(['greatest imbalance', `×${worst.imbalance.toFixed(2)}`, place]);
    }
    return made;
  };

  /**
   * Title, number, and what to compare it with.
   * @type {() => Tile[]}
   */
  const accessTiles = () => {
    if (!Data.part('misses')) return [];
    const attribution = Data.record('misses', 'attribution');
    const trace = Data.record('misses', 'trace');
    const traffic = Data.table('misses', 'memory_traffic')?.record();
    const sharing = Data.table('sharing', 'sharing')?.record();
    const recording = Data.table('info', 'recording')?.record();
    /** @type {Tile[]} */
    const made = [['accesses', Numbers.short(trace.accesses ?? 0), `${Numbers.bytes(attribution.bytes ?? 0)} accessed`]];
    made.push(...ratioTiles());
    if (traffic) {
      made.push(['from memory', Numbers.bytes(traffic.bytes_read), `${Numbers.bytes(traffic.bytes_written)} written back`]);
    }
    made.push(['threads', Numbers.grouped(trace.streams ?? 0), recording ? `${Texts.visible(recording.duration)} recorded` : '']);
    if (sharing) {
      const handOvers = sharing.read_hand_overs + sharing.write_hand_overs;
      made.push(['hand-overs', Numbers.short(handOvers), `of ${Numbers.grouped(sharing.handed_over)} cache lines`]);
    }
    return made;
  };

  /**
   * Of programs that were sampled.
   * @type {() => Tile[]}
   */
  const sampleTiles = () => {
    const sampled = Data.table('objects', 'sampled')?.record();
    if (!sampled) return [];
    const sampling = Data.record('samples', 'sampling');
    return [
      ['samples', Numbers.grouped(sampled.samples), `of ${Numbers.counted(sampling.threads ?? 0, 'thread')}`],
      ['at known memory', Numbers.percent(sampled.memory ?? 0), 'of what the samples weigh'],
      ['without access', Numbers.percent(sampled.no_access ?? 0), 'computation'],
      ['at unknown addresses', Numbers.percent(sampled.no_address ?? 0), ''],
      ['lost', Numbers.grouped(sampled.lost), 'samples'],
    ];
  };

  /** @type {(tiles: Tile[]) => Child} */
  const tileList = (tiles) => {
    if (tiles.length === 0) return null;
    /** @type {(tile: Tile) => HTMLElement} */
    const tile = ([title, number, detail]) =>
      Dom.element(
        'div',
        {},
        Dom.element('dt', {}, title),
        Dom.element('dd', {}, Dom.element('strong', {}, number), Dom.element('span', {}, detail)),
      );
    return Dom.element('dl', { class: 'tiles' }, tiles.map(tile));
  };

  /** The tiles of this page with what they stand for. @type {() => [string, string][]} */
  const terms = () => {
    const titles = [...accessTiles(), ...countTiles(), ...sampleTiles()].map(([title]) => title);
    return [...new Set(titles)].flatMap((title) => {
      const text = TERMS[title] ?? ColumnTerms.of('caches', title.toLowerCase().replace(' ', '_'));
      return text ? [/** @type {[string, string]} */ ([title, text])] : [];
    });
  };

  const ranksMisses = Data.page.rank_by.endsWith('misses');
  /** @type {Record<string, string>} */
  const KINDS = { misses: ranksMisses ? 'misses the cache' : 'is accessed', sharing: 'goes from thread to thread' };

  /** @type {(found: Suspect) => Child} */
  const sourceOf = ({ file, line }) => {
    if (file === null || line === null) return null;
    const text = Data.sourceLine(file, line);
    if (text === undefined) return null;
    const place = SourceView.link(file, line, `${Texts.fileName(file)}:${line}`);
    return Dom.element('p', { class: 'quote' }, place, Dom.element('code', {}, Texts.visibleSource(text).trim()));
  };

  /** @type {(name: string) => Child} */
  const named = (name) =>
    Places.has('field', name) ? Dom.element('code', {}, Entity.link('field', name, Names.short(name))) : Names.code(name);

  /** @type {(found: Suspect) => HTMLElement} */
  const suspect = (found) =>
    Dom.element(
      'li',
      {},
      Dom.element('div', { class: 'share' }, Dom.element('strong', {}, Numbers.percent(found.share)), Dom.withVariables(Dom.element('span', { class: 'bar', 'aria-hidden': 'true' }), { '--part': found.share })),
      Dom.element(
        'div',
        {},
        Dom.element('h3', {}, named(found.name), ' ', Dom.element('span', { class: 'kind' }, KINDS[found.part] ?? '')),
        Dom.element('p', {}, Names.sentence(found.sentence)),
        sourceOf(found),
      ),
    );

  /** @type {(found: Suspect[]) => Child} */
  const suspectList = (found) => (found.length > 0 ? Dom.element('ol', { class: 'suspects' }, found.map(suspect)) : null);

  /** @type {(part: string) => Child} */
  const suspects = (part) => suspectList(Data.page.suspects.filter((candidate) => candidate.part === part));

  /** What is chosen in a sentence. @type {(found: Suspect[], words: string) => Child} */
  const chosenAnswer = ([first], words) =>
    first ? Dom.element('p', { class: 'answer' }, `In the chosen time and threads, ${Texts.visible(first.name)} has ${Numbers.percent(first.share)} of the ${words}.`) : null;

  /** @type {() => Child} */
  const chosenNumbers = () => {
    if (Places.isNothing()) return ChosenBar.emptyNote();
    const [missing, shared] = [ChosenFindings.missing(), ChosenFindings.shared()];
    return [
      chosenAnswer(missing, Places.measures[Places.ranking].title),
      tileList(ChosenFindings.tiles()),
      suspectList(missing),
      chosenAnswer(shared, 'hand-overs'),
      suspectList(shared),
    ];
  };

  /** Of the whole trace. @type {() => Child} */
  const wholeNumbers = () => [answer('misses'), tileList(accessTiles()), suspects('misses'), answer('sharing'), suspects('sharing')];

  /** @type {(part: string) => Child} */
  const answer = (part) => {
    const text = Data.part(part)?.answer;
    return text ? Dom.element('p', { class: 'answer' }, Names.sentence(text)) : null;
  };

  /** What it shows of the chosen time and threads. */
  const remark = () => 'The numbers and the data that cost most are of the chosen time and threads. Each change says how much of what it is about lies there; its gain is not of this choice.';

  const create = () => {
    const accesses = Data.part('misses')
      ? [
          ChosenBar.note(remark, 'report'),
          Cards.create(),
          Data.part('advice') ? Dom.element('h3', { class: 'further' }, 'What misses') : null,
          Chosen.redrawn(() => (Chosen.isAll() || Places.all.length === 0 ? wholeNumbers() : chosenNumbers())),
        ]
      : [];
    // The series says less than the regions of the whole run.
    const counts = [answer('regions') ?? answer('series'), tileList(countTiles())];
    const samples = [answer('objects'), answer('samples'), tileList(sampleTiles())];
    return [...accesses, ...counts, ...samples].filter(Boolean);
  };

  return { create, terms };
})();
