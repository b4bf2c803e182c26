/** One field, variable, type, function or line by itself: where, by whom and when it is accessed, and what it costs. */
const Entity = (() => {
  /** @typedef {ReturnType<typeof Places.grouped>[number]} Group */

  const TITLES = { field: 'Field', variable: 'Variable', type: 'Type', function: 'Function', line: 'Line', file: 'File', kind: 'Kind' };
  const MOST_BARS = 64;

  /**
   * A link to the view of something; plain text if the page knows nothing of it.
   * @type {(kind: string, name: string, text: Child, otherwise?: Child) => Child}
   */
  const link = (kind, name, text, otherwise = text) => {
    if (!Places.has(kind, name) && !Comparison.goneRows(kind, name)) return otherwise;
    return Dom.element(
      'a',
      {
        href: Router.fragment(kind, name),
        // The selection may have changed since the link was made.
        onclick: (event) => /** @type {HTMLElement} */ (event.currentTarget).setAttribute('href', Router.fragment(kind, name)),
      },
      text,
    );
  };

  /** @type {(counts: number[], whole: number[]) => HTMLElement} */
  const tiles = (counts, whole) =>
    Dom.element(
      'dl',
      { class: 'tiles' },
      Places.measures.map(({ title, unit }, index) =>
        Dom.element(
          'div',
          {},
          Dom.element('dt', {}, Texts.visible(title)),
          Dom.element(
            'dd',
            {},
            Dom.element('strong', {}, unit === 'bytes' ? Numbers.bytes(counts[index]) : Numbers.short(counts[index])),
            Dom.element('span', {}, whole[index] > 0 ? `${Numbers.percent(counts[index] / whole[index])} of all` : ''),
          ),
        ),
      ),
    );

  /**
   * Groups as a table: their name, their numbers, and the share of the whole by the ranking measure.
   * @type {(name: string, title: string, groups: Group[], own: number) => Table}
   */
  const asTable = (name, title, groups, own) => {
    const { name: ranked } = Places.measures[Places.ranking] ?? { name: 'accesses' };
    /** @type {Column[]} */
    const columns = [
      { name, title: name, unit: 'text' },
      ...Places.measures,
      { name: 'share', title: `share of ${ranked.replace('_', ' ').replace(/^l/, 'L')}`, unit: 'share' },
    ];
    const rows = groups.map((group) => [group.name, ...group.counts, own > 0 ? group.counts[Places.ranking] / own : null]);
    return new Data.Table({ name: `by_${name}`, title, layout: 'rows', columns, rows, row_count: rows.length });
  };

  /**
   * Lines with function, kind and, if the page holds it, their source.
   * @type {(groups: Group[], own: number) => Table}
   */
  const linesTable = (groups, own) => {
    /** @type {Column[]} */
    const columns = [
      { name: 'file', title: 'file', unit: 'path' },
      { name: 'line', title: 'line', unit: 'number' },
      { name: 'function', title: 'function', unit: 'text' },
      { name: 'kind', title: 'kind', unit: 'text' },
      ...Places.measures,
      { name: 'share', title: 'share', unit: 'share' },
      { name: 'source', title: 'source', unit: 'source' },
    ];
    const rows = groups.map(({ places: [first, ...others], counts }) => {
      const kinds = new Set([first, ...others].map(({ keys }) => keys.kind).filter(Boolean));
      const source = first.file !== null && first.line !== null ? (Data.sourceLine(first.file, first.line) ?? null) : null;
      const share = own > 0 ? counts[Places.ranking] / own : null;
      return [first.file, first.line, first.keys.function, [...kinds].join(', '), ...counts, share, source];
    });
    return new Data.Table({ name: 'entity_lines', title: 'By line', layout: 'rows', columns, rows, row_count: rows.length });
  };

  /** @type {(places: Group['places']) => Table | null} */
  const threadsTable = (places) => {
    const { streams } = Places.overTime(places);
    const chosen = Chosen.now().streams;
    const rows = [...streams]
      .filter(([stream, counts]) => counts[0] > 0 && (chosen === null || chosen.includes(stream)))
      .sort(([, a], [, b]) => b[Places.ranking] - a[Places.ranking])
      .map(([stream, counts]) => [stream, ...counts]);
    if (rows.length === 0) return null;
    /** @type {Column[]} */
    const columns = [{ name: 'stream', title: 'thread', unit: 'number' }, ...Places.measures];
    return new Data.Table({ name: 'entity_threads', title: 'By thread', layout: 'rows', columns, rows, row_count: rows.length });
  };

  /** @type {(places: Group['places']) => Child} */
  const threadTable = (places) => {
    const table = threadsTable(places);
    return table ? TableView.create(table) : null;
  };

  /** @type {(places: Group['places']) => Child} */
  const overTime = (places) => {
    const { bins } = Places.overTime(places);
    const measure = Places.sum(places)[Places.ranking] > 0 ? Places.ranking : 0;
    const counts = bins.map((sums) => sums[measure]);
    return counts.length > 1 ? TimeBars.create(counts.slice(0, MOST_BARS), Places.measures[measure].title) : null;
  };

  const owners = Data.table('map', 'site_owners');
  const ownerMoments = Data.table('map', 'site_owner_moments');
  /** Rows after that many have no room for their times. */
  const ownersWithRoom = ownerMoments ? ChosenSums.keysWithRoom(ownerMoments) : 0;
  const isMemoryChosen = () => !Chosen.isAll() && ownersWithRoom > 0;

  /** Rows of memory that was accessed by that name, with their numbers. @type {(kind: string, name: string) => [number, SiteOwner][]} */
  const ownersOf = (kind, name) =>
    [...(owners?.objects() ?? []).entries()].filter(([, row]) => /** @type {Cells} */ (row)[kind] === name);

  /** Names of the memory that was accessed by that name, the most accessed first. @type {(kind: string, name: string) => [string, string, number][]} */
  const memoryOf = (kind, name) => {
    const chosen = isMemoryChosen() && ownerMoments ? ChosenSums.by(ownerMoments, ['row']) : null;
    /** @type {Map<string, [string, string, number]>} */
    const sums = new Map();
    for (const [number, row] of ownersOf(kind, name)) {
      const sum = sums.get(row.memory) ?? [row.memory, row.kind, 0];
      sum[2] += chosen ? (chosen.get(String(number))?.accesses ?? 0) : row.accesses;
      if (sum[2] > 0) sums.set(row.memory, sum);
    }
    return [...sums.values()].sort((a, b) => b[2] - a[2]);
  };

  /** What the memory shows of the chosen time and threads. @type {(kind: string, name: string) => string} */
  const memoryRemark = (kind, name) => {
    if (!isMemoryChosen()) return 'This part shows the whole trace, whatever time and threads are chosen.';
    const rows = ownersOf(kind, name);
    /** @type {(of: [number, SiteOwner][]) => number} */
    const accesses = (of) => of.reduce((sum, [, row]) => sum + row.accesses, 0);
    const left = accesses(rows.filter(([number]) => number >= ownersWithRoom));
    const lack = left > 0 ? ` It lacks ${Numbers.percent(left / accesses(rows))} of the accesses by that name in the whole trace: the page has no room for their times.` : '';
    return `The memory is that of the chosen time and threads.${lack}`;
  };

  /** None if nothing by that name is known. @type {(kind: string, name: string, memory: [string, string, number][]) => Child} */
  const memoryBlock = (kind, name, memory) => {
    if (ownersOf(kind, name).length === 0) return null;
    const found = memory.length > 0 ? [memoryTable(memory), onMap(memory)] : ChosenBar.emptyNote(' by that name to known memory');
    return block('Memory and allocation sites', [ChosenBar.note(() => memoryRemark(kind, name), 'map'), found]);
  };

  /** @type {(memory: [string, string, number][]) => HTMLElement} */
  const memoryTable = (memory) => {
    const whole = memory.reduce((sum, [, , accesses]) => sum + accesses, 0) || 1;
    /** @type {Column[]} */
    const columns = [
      { name: 'memory', title: 'memory, with the call that allocates it', unit: 'text' },
      { name: 'memory_kind', title: 'kind', unit: 'text' },
      { name: 'accesses', title: 'accesses', unit: 'count' },
      { name: 'share', title: 'share', unit: 'share' },
    ];
    const rows = memory.map(([name, what, accesses]) => [name, what, accesses, accesses / whole]);
    return TableView.create(new Data.Table({ name: 'memory', title: 'By memory', layout: 'rows', columns, rows, row_count: rows.length }));
  };

  /**
   * The curve of that field alone, beside that of all accesses.
   * @type {(name: string) => Child}
   */
  const curve = (name) => {
    const table = Data.part('reuse')?.tables.find((candidate) => candidate.has(...CurveChart.COLUMNS));
    if (!table) return null;
    const rows = table.rows.filter((row) => [name, 'all accesses'].includes(String(table.value(row, 'group'))));
    if (!rows.some((row) => table.value(row, 'group') === name)) {
      return Dom.element('p', { class: 'status' }, 'The page holds the curves of the fields with most accesses; this is none of them. ', ask('reuse', '--by field'));
    }
    const raw = { name: 'curves', title: 'Miss ratio by cache size', layout: /** @type {const} */ ('rows'), columns: table.columns };
    return CurveChart.createOfField(/** @type {Table<CurvePoint>} */ (/** @type {unknown} */ (new Data.Table({ ...raw, rows, row_count: rows.length }))), name);
  };

  /** @type {(verb: string, options: string) => HTMLElement} */
  const ask = (verb, options) => Dom.element('code', {}, `trackway ${verb} ${options} ${Data.trace}`);

  /** @type {(memory: [string, string, number][]) => Child} */
  const onMap = (memory) => {
    const names = memory.map(([name]) => Texts.visible(name));
    const found = MapChart.rowsOf((name) => names.includes(name));
    if (found === 0) return null;
    return Dom.button(`Mark its memory on the map (${Numbers.counted(found, 'row')})`, () => {
      Router.leave('part-map');
      MapChart.mark(names);
    });
  };

  /** @type {(title: string, content: Child) => Child} */
  const block = (title, content) =>
    Dom.nodesOf(content).length > 0 ? Dom.element('section', { class: 'block' }, Dom.element('h3', {}, title), content) : null;

  /** @type {(kind: string, name: string) => Child[]} */
  const withoutAccesses = (kind, name) => {
    const gone = Comparison.goneRows(kind, name);
    return gone
      ? [Dom.element('p', {}, 'It is gone in the second trace, which this page is of: nothing there accesses it by that name.'), TableView.create(gone)]
      : [Dom.element('p', {}, 'This page holds no accesses of that name: it has the places that cost most.')];
  };

  /** @type {(kind: string, name: string) => Child[]} */
  const content = (kind, name) => {
    const places = (Places.isKey(kind) && Places.by(kind).get(name)) || [];
    if (places.length === 0) return withoutAccesses(kind, name);
    const counts = Places.sum(places);
    const own = counts[Places.ranking];
    const memory = memoryOf(kind, name);
    const others = /** @type {const} */ (['field', 'variable', 'type', 'function']).filter((key) => key !== kind);
    const isNothing = counts.every((count) => count === 0);
    return [
      tiles(counts, Places.sum(Places.all)),
      block('Over time', overTime(places)),
      isNothing ? ChosenBar.emptyNote(' by that name') : TableView.create(linesTable(Places.grouped('line', places), own)),
      others.map((key) => {
        const groups = Places.grouped(key, places);
        const isNew = groups.some((group) => group.name !== name && group.name !== '');
        return isNew ? TableView.create(asTable(key, `By ${key}`, groups, own)) : null;
      }),
      threadTable(places),
      block('Paths of calls', FlameChart.create(places)),
      memoryBlock(kind, name, memory),
      kind === 'field' || kind === 'variable' ? block('Reuse', [ChosenBar.note(() => CurveChart.fieldRemark(name), 'reuse --by field'), curve(name)]) : null,
    ];
  };

  /** @type {HTMLElement | null} */
  let section = null;

  /** Where the view goes; before it is made, nothing can be shown. */
  const create = () => {
    section = Dom.element('section', { id: 'entity', 'aria-labelledby': 'entity-title' });
    section.hidden = true;
    return section;
  };

  /** @type {[string, string] | null} */
  let open = null;

  /** @type {(next: [string, string] | null) => void} */
  const show = (next) => {
    if (!section) return;
    const isOther = String(next) !== String(open);
    open = next;
    section.hidden = next === null;
    section.parentElement?.classList.toggle('one', next !== null);
    section.replaceChildren();
    if (next === null) return;
    const [kind, name] = next;
    const title = Dom.element('h2', { id: 'entity-title', tabindex: '-1' }, `${TITLES[/** @type {keyof typeof TITLES} */ (kind)] ?? kind} `, Names.code(name));
    const back = Dom.element('p', { class: 'tools' }, Dom.button('← All findings', () => Router.leave()), source(kind, name), copy());
    section.append(...Dom.nodesOf([title, back, content(kind, name)]));
    if (isOther) {
      title.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
  };

  /** @type {(kind: string, name: string) => Child} */
  const source = (kind, name) => {
    const first = kind === 'line' ? Places.by('line').get(name)?.[0] : null;
    return first ? SourceView.link(first.file, first.line, 'Show it in the source') : null;
  };

  const copy = () => {
    const status = Dom.element('span', { role: 'status', class: 'status' });
    const button = Dom.button('Copy the address of this view', async () => {
      try {
        await navigator.clipboard.writeText(location.href);
        status.textContent = 'Copied.';
      } catch {
        status.textContent = location.href;
      }
    });
    return [button, status];
  };

  Chosen.onChange(() => {
    if (!open) return;
    const hadFocus = section?.querySelector('.time-bars') === document.activeElement;
    show(open);
    if (hadFocus) /** @type {SVGElement | null | undefined} */ (section?.querySelector('.time-bars'))?.focus();
  });

  return { link, create, show, asTable };
})();
