/** Who causes the misses: one table at a time, chosen by tabs. */
const Offenders = (() => {
  /** @type {[string, string][]} */
  const GROUPINGS = [
    ['fields', 'Fields'],
    ['variables', 'Variables'],
    ['types', 'Types'],
    ['lines', 'Lines'],
    ['functions', 'Functions'],
    ['files', 'Files'],
    ['kinds', 'Kinds'],
    ['sites', 'Sites'],
    ['threads', 'Threads'],
  ];

  /**
   * A tab list as the ARIA practices have it: arrows move, one tab stop.
   * @type {(entries: { id: string, title: string, table: Table }[]) => Child[]}
   */
  const tabs = (entries) => {
    const panels = entries.map(({ id, title, table }, index) => {
      const panel = Dom.element('div', { role: 'tabpanel', id: `panel-${id}`, 'aria-labelledby': `tab-${id}` });
      panel.hidden = index > 0;
      return { id, title, table, panel };
    });
    const redraw = () => {
      for (const { panel } of panels) panel.replaceChildren();
      select(buttons.findIndex((button) => button.tabIndex === 0));
    };
    Chosen.onChange(redraw);
    /** @type {(index: number) => void} */
    const select = (index) => {
      panels.forEach(({ panel, table }, other) => {
        panel.hidden = other !== index;
        if (other === index && !panel.hasChildNodes()) panel.append(...Dom.nodesOf(content(table)));
        buttons[other].setAttribute('aria-selected', String(other === index));
        buttons[other].tabIndex = other === index ? 0 : -1;
      });
    };
    const buttons = panels.map(({ id, title }, index) =>
      Dom.button(title, () => select(index), { role: 'tab', id: `tab-${id}`, 'aria-controls': `panel-${id}` }),
    );
    const list = Dom.element('div', { role: 'tablist', 'aria-label': 'Misses by' }, buttons);
    Chart.onArrows(list, (dx) => {
      const now = buttons.findIndex((button) => button.tabIndex === 0);
      const next = (now + dx + buttons.length) % buttons.length;
      select(next);
      buttons[next].focus();
    });
    select(0);
    return [list, panels.map(({ panel }) => panel)];
  };

  /** @type {Record<string, 'field' | 'variable' | 'type' | 'line' | 'function' | 'file' | 'kind'>} */
  const KEYS = { fields: 'field', variables: 'variable', types: 'type', lines: 'line', functions: 'function', files: 'file', kinds: 'kind' };

  /** What the chosen threads did in the chosen time. @type {(table: Table, own: number) => Table} */
  const threads = (table, own) => {
    const chosen = [...Places.overTime().streams].filter(([stream]) => Chosen.holdsStream(stream));
    const rows = chosen.sort(([, a], [, b]) => b[Places.ranking] - a[Places.ranking]).map(([stream, counts]) => {
      /** @type {Cells} */
      const row = { stream, share: own > 0 ? counts[Places.ranking] / own : null };
      Places.measures.forEach(({ name }, position) => {
        row[name] = counts[position];
      });
      return table.columns.map(({ name }) => row[name] ?? null);
    });
    return table.withRows(rows).withTitle(ChosenTables.titled(table.title, 'the chosen time and threads'));
  };

  const SITE_KEYS = /** @type {const} */ (['kind', 'field', 'file', 'line', 'function']);

  /** Sites of the chosen time and threads. Those whose places have the same names are one row. @type {(table: Table, own: number) => Table} */
  const sites = (table, own) => {
    const groups = Data.grouped(Places.all, ({ keys }) => JSON.stringify(SITE_KEYS.map((key) => keys[key])));
    const counted = [...groups.values()].map((places) => ({ first: places[0], counts: Places.sum(places) })).filter(({ counts }) => counts[0] > 0);
    const rows = counted.sort((a, b) => b.counts[Places.ranking] - a.counts[Places.ranking] || b.counts[0] - a.counts[0]).map(({ first, counts }) => {
      /** @type {Cells} */
      const row = { ...first.keys, file: first.file, line: first.line, share: own > 0 ? counts[Places.ranking] / own : null };
      Places.measures.forEach(({ name }, position) => {
        row[name] = counts[position];
      });
      return table.columns.map(({ name }) => row[name] ?? null);
    });
    return table.withRows(rows).without(['site', 'column']).withTitle(ChosenTables.titled(table.title, 'the chosen time and threads'));
  };

  /** What tells the rows apart. */
  const siteNote = () => Dom.element('p', { class: 'whole-note' }, 'Of the chosen time and threads, sites of the same line, function, field and kind are one row.');

  /**
   * The table, or its sums of the chosen time and threads.
   * @type {(table: Table) => Child}
   */
  const content = (table) => {
    const key = KEYS[table.name];
    if (Chosen.isAll() || Places.all.length === 0) return TableView.create(table);
    if (Places.isNothing()) return ChosenBar.emptyNote();
    const own = Places.sum(Places.all)[Places.ranking];
    if (table.name === 'threads') return TableView.create(threads(table, own));
    if (table.name === 'sites') return [siteNote(), TableView.create(sites(table, own))];
    return TableView.create(Entity.asTable(key, `${table.title.split(',')[0]}, of the chosen time and threads`, Places.grouped(key), own));
  };

  const create = () => {
    const present = GROUPINGS.flatMap(([name, title]) => {
      const table = Data.part('misses')?.tables.find((candidate) => candidate.name === name);
      return table && table.rows.length > 0 ? [{ id: name, title, table }] : [];
    });
    return present.length > 0 ? tabs(present) : null;
  };

  return { create, names: new Set(GROUPINGS.map(([name]) => name)) };
})();
