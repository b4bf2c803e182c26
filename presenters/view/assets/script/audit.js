/** What the numbers rest on: what was seen, what is missing, which caches were simulated. */
const Audit = (() => {
  /** @type {(good: boolean, text: string) => HTMLElement} */
  const check = (good, text) =>
    Dom.element('li', { class: good ? 'good' : 'bad' }, Dom.element('span', { class: 'sign' }, good ? '✓ yes' : '✗ no'), Texts.visible(text));

  /** @type {(made: Child[]) => HTMLElement} */
  const list = (made) => Dom.element('ul', { class: 'checks' }, made);

  /** Of programs that count. */
  const statementsOfCounts = () => {
    const counts = Data.table('regions', 'counts')?.record();
    if (!counts) return null;
    const recording = Data.record('info', 'recording');
    /** @type {(count: number | undefined, text: string, of: string) => HTMLElement} */
    const none = (count, text, of) => check(count === 0, `${text} (${Numbers.grouped(count ?? 0)} ${of}).`);
    return list([
      check(recording.reason !== 'unknown', 'The recording was ended in order.'),
      none(counts.damaged_parts, 'No part of the counts is damaged', 'are'),
      none(counts.uncounted, 'Of everything that was entered, some entries were counted', 'without'),
      none(counts.open, 'Every region was left', 'were not'),
      none(counts.below_zero, 'No sum of counters came to less than 0', 'did'),
    ]);
  };

  /** Statements that hold or not. */
  const statementsOfAccesses = () => {
    if (!Data.part('misses')) return null;
    const trace = Data.record('misses', 'trace');
    const attribution = Data.record('misses', 'attribution');
    const instrumentation = Data.record('info', 'instrumentation');
    const order = Data.table('sharing', 'order')?.record();
    const made = [
      check(trace.complete === 'yes', 'The recording was ended in order.'),
      check(trace.gaps === 0, `No records are missing (${Numbers.grouped(trace.gaps ?? 0)} gaps, ${Numbers.grouped(trace.dropped_buffers ?? 0)} buffers).`),
      check(trace.damaged_parts === 0, `No part of the file is damaged (${Numbers.grouped(trace.damaged_parts ?? 0)}).`),
      check(trace.uncertain_accesses === 0, `Every access certainly happened (${Numbers.grouped(trace.uncertain_accesses ?? 0)} uncertain of ${Numbers.grouped(trace.accesses ?? 0)}).`),
    ];
    /** @type {(share: number | null | undefined, limit: number, text: string) => void} */
    const statement = (share, limit, text) => {
      if (share !== null && share !== undefined) made.push(check(share >= limit, `${text} (${Numbers.percent(share)}).`));
    };
    statement(instrumentation.recorded_share, 0.99, 'Nearly all memory instructions of the instrumented modules are recorded');
    statement(attribution.with_line, 0.99, 'Nearly all accesses have a line');
    statement(attribution.with_variable_or_field, 0.95, 'Nearly all accesses have a variable or field');
    if (order) made.push(check(order.backward_points === 0, `The clock never ran backward between threads (${Numbers.grouped(order.backward_points)} points).`));
    return list(made);
  };

  /** Of programs that were sampled. */
  const statementsOfSamples = () => {
    const sampled = Data.table('objects', 'sampled')?.record();
    if (!sampled) return null;
    const sampling = Data.record('samples', 'sampling');
    const recording = Data.record('info', 'recording');
    const known = 1 - (sampled.no_address ?? 0);
    return list([
      check(recording.reason !== 'unknown', 'The recording was ended in order.'),
      check(sampled.lost === 0, `No sample was lost (${Numbers.grouped(sampled.lost)} of ${Numbers.grouped(sampled.samples)} and these).`),
      check(known >= 0.95, `Of nearly all samples that access memory it is known where (${Numbers.percent(1 - known)} of all are not).`),
      check(sampling.unattributed === 0, `Every sample has its instruction (${Numbers.grouped(sampling.unattributed ?? 0)} have not).`),
    ]);
  };

  const perturbation = () => {
    const recording = Data.table('info', 'recording')?.record();
    if (!recording) return null;
    return Dom.element(
      'p',
      {},
      `Recorded in ${Texts.visible(recording.duration)}. A trace does not hold how long the program takes without ` +
        `${Data.part('misses') ? 'recording' : Data.part('objects') ? 'sampling' : 'counting'}: compare with a plain run. ` +
        'Recording takes nothing from the program’s heap, which is laid out as without it; times, and the order between threads, are those of the recorded run.',
    );
  };

  const model = () => {
    if (Data.part('objects') && !Data.part('misses') && !Data.part('regions')) {
      const text =
        'Nothing was counted and no cache simulated: shares are those of samples. The warnings name what their source ' +
        'is biased towards.';
      return Dom.element('p', {}, text);
    }
    if (!Data.part('misses')) {
      const text =
        'No access was recorded and no cache simulated: accesses and instructions follow from how often each ' +
        'block ran. Bytes are those that were accessed, not those that came from memory.';
      return Dom.element('p', {}, text);
    }
    const caches = Data.table('misses', 'caches');
    const text = caches
      ? 'Misses are those of a simulated cache, not of hardware counters: every access was run through this model.'
      : 'No cache was simulated: the tables count accesses and bytes.';
    return Dom.element('p', {}, text);
  };

  const SHOWN = new Set(['activity', 'activity_axis', 'gaps', 'thread_pairs', 'shared_lines']);

  const AUDITED = ['misses', 'sharing', 'info'];
  /** What tables of these names say is not about the program, but about how it was looked at, whatever part they come from. */
  const BOOKKEEPING = new Set(['trace', 'attribution', 'order', 'structures_seen', 'stack_repairs', 'map', 'slice', 'sampling', 'counts']);

  /** Ends the names of tables that compare shares. */
  const SHARES = /_shares$/;
  /** Whether a table, or the changes of one, stands in the audit. @type {(name: string) => boolean} */
  const isBookkeeping = (name) => BOOKKEEPING.has(name.replace(SHARES, ''));

  /** Every table that has no place elsewhere on the page; what two analyses both say, once. */
  const tables = () => {
    /** @type {Table[]} */
    const made = [];
    /** @type {(table: Table) => boolean} */
    const isNew = (table) => !made.some(({ title, columns }) => title === table.title && columns.length === table.columns.length);
    for (const part of Data.parts) {
      if (part.name === 'advice' || part.name === 'missed_map') continue;
      for (const table of part.tables) {
        const isAudited = AUDITED.includes(part.name) ? !SHOWN.has(table.name) && !Offenders.names.has(table.name) : isBookkeeping(table.name);
        if (isAudited && isNew(table) && !ChosenSums.isSource(table)) made.push(table);
      }
    }
    return Dom.element('div', { class: 'audit-tables' }, made.map((table) => TableView.create(table)));
  };

  const unseen = () =>
    Dom.element(
      'p',
      {},
      Data.part('objects') && !Data.part('misses')
        ? 'Not seen, and in no number: what the kernel does, and all that lies between samples.'
        : 'Not seen, and in no number: code that was not compiled by Trackway, but for what functions of the C library are known to access; inline assembly, accesses of the kernel, fetches of instructions.',
    );

  const create = () => {
    const statements = [statementsOfAccesses(), statementsOfCounts(), statementsOfSamples()].filter((list) => list !== null);
    return statements.length > 0 ? [statements, unseen(), perturbation(), model(), tables()] : null;
  };

  /** Warnings stand above all if records are missing, else with what they are about. */
  const SERIOUS = /missing|damaged|dropped|incomplete|cut off|not all/i;

  /** @type {() => HTMLElement | null} */
  const warnings = () => {
    const texts = [...new Set(Data.parts.flatMap((part) => part.warnings))];
    if (texts.length === 0) return null;
    const list = Dom.element('ul', {}, texts.map((text) => Dom.element('li', {}, Dom.element('strong', {}, 'Warning: '), Texts.visible(text))));
    const isSerious = texts.some((text) => SERIOUS.test(text));
    const title = texts.length === 1 ? '1 warning about what the numbers rest on' : `${texts.length} warnings about what the numbers rest on`;
    const details = Dom.element('details', { class: isSerious ? 'warnings serious' : 'warnings', open: isSerious }, Dom.element('summary', {}, title), list);
    return details;
  };

  return { create, warnings, isBookkeeping };
})();
