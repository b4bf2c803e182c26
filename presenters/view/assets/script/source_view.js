/** Source files with what each line costs beside it. */
const SourceView = (() => {
  /** @typedef {{ file: string | null, line: number | null, source: string | null, share: number | null, region?: string }} Costs */
  /** @typedef {Record<string, number>} Sums */
  /** @typedef {{ rows: Map<number, Sums>, share: number }} FileCosts */
  /** @typedef {{ title: string, columns: Column[], files: Map<string, FileCosts> }} ShownCosts */

  /** Lines between hot ones are folded away at first if there are more of them. */
  const CONTEXT = 3;
  /** Fewer lines are not worth a button. */
  const FOLD_FROM = 4;
  const HOT = 0.05;

  /** Tables of any part that have these say what lines cost; with `region`, in each region. */
  const COLUMNS = ['file', 'line', 'source', 'share'];

  /** @type {(table: Table) => Column[]} */
  const numberColumns = (table) =>
    table.columns.filter(
      ({ name, unit }) => (unit === 'count' && name !== 'line') || name === 'share' || name === Data.page.rank_by,
    );

  /** @type {(sums: Sums, table: Table, row: Cell[], columns: Column[]) => void} */
  const add = (sums, table, row, columns) => {
    for (const { name } of columns) sums[name] = (sums[name] ?? 0) + Number(table.value(row, name) ?? 0);
  };

  /**
   * Sums by line, for each file that the page holds.
   * @type {(table: Table<Costs>, columns: Column[], region: string | null) => Map<string, FileCosts>}
   */
  const collect = (table, columns, region) => {
    /** @type {Map<string, FileCosts>} */
    const files = new Map();
    for (const row of table.rows) {
      const [file, line] = [table.value(row, 'file'), table.value(row, 'line')];
      const isWanted = region === null || table.value(row, 'region') === region;
      if (!isWanted || file === null || !Data.sources.has(file) || line === null) continue;
      const found = files.get(file) ?? { rows: new Map(), share: 0 };
      files.set(file, found);
      const sums = found.rows.get(line) ?? {};
      found.rows.set(line, sums);
      add(sums, table, row, columns);
      found.share += table.value(row, 'share') ?? 0;
    }
    return files;
  };

  /**
   * A table as it stands beside the source: as a whole and, of several regions, each of them.
   * @type {(title: string, table: Table<Costs>) => ShownCosts[]}
   */
  const costsOf = (title, table) => {
    const columns = numberColumns(table);
    const regions = table.has('region') ? [...new Set(table.rows.map((row) => table.value(row, 'region')))] : [];
    /** @type {(name: string, region: string | null) => ShownCosts} */
    const one = (name, region) => ({ title: name, columns, files: collect(table, columns, region) });
    const each = regions.length > 1 ? regions.map((region) => one(`region ${Texts.visible(region)}`, region)) : [];
    return [one(each.length > 0 ? `${title}, all` : title, null), ...each];
  };

  /**
   * Names the types of the columns, for a table that has them.
   * @type {(table: Table) => Table<Costs>}
   */
  const asCosts = (table) => /** @type {Table<Costs>} */ (/** @type {unknown} */ (table));

  const costs = Data.parts
    .flatMap((part) =>
      part.tables.filter((table) => table.has(...COLUMNS)).flatMap((table) => costsOf(Texts.visible(part.title), asCosts(table))),
    )
    .filter(({ files }) => files.size > 0);

  /**
   * The numbers of the chosen time and threads instead; those of other tables can't be summed anew.
   * @type {() => ShownCosts | null}
   */
  const selectedCosts = () => (Chosen.isAll() || Places.all.length === 0 ? null : placesCosts('the chosen time and threads'));

  /**
   * Numbers of places beside their lines.
   * @type {(title: string) => ShownCosts}
   */
  const placesCosts = (title) => {
    const total = Places.sum(Places.all)[Places.ranking] || 1;
    /** @type {Map<string, FileCosts>} */
    const files = new Map();
    for (const { places, counts } of Places.grouped('line')) {
      const { file, line } = places[0];
      if (file === null || line === null || !Data.sources.has(file)) continue;
      const found = files.get(file) ?? { rows: new Map(), share: 0 };
      files.set(file, found);
      const share = counts[Places.ranking] / total;
      /** @type {Sums} */
      const sums = Object.fromEntries(Places.measures.map(({ name }, index) => [name, counts[index]]));
      found.rows.set(line, { ...sums, share });
      found.share += share;
    }
    const columns = [...Places.measures, /** @type {Column} */ ({ name: 'share', title: 'share', unit: 'share' })];
    return { title, columns, files };
  };

  // Lines of samples have no column of their text.
  const ofPlaces = costs.length === 0 ? [placesCosts('places')] : [];
  costs.push(...ofPlaces.filter(({ files }) => files.size > 0));

  /** What stands beside the source now. */
  let shown = costs[0];

  const names = [...new Set(costs.flatMap(({ files }) => [...files.keys()]))];

  /** @type {(file: string, line: number) => string} */
  const idOf = (file, line) => `source-${names.indexOf(file)}-${line}`;

  /** @type {(file: string, line: number) => void} */
  let show = () => {};

  /**
   * A link from a place to its source line; plain text if the page doesn't hold the file.
   * @type {(file: string | null, line: number | null, text: string) => Child}
   */
  const link = (file, line, text) => {
    if (file === null || line === null || !names.includes(file) || Data.sourceLine(file, line) === undefined) return text;
    /** @type {(event: Event) => void} */
    const onclick = (event) => {
      event.preventDefault();
      show(file, line);
    };
    return Dom.element('a', { href: '#source', onclick }, text);
  };

  /**
   * What a narrow screen has no room for.
   * @type {(column: Column) => string}
   */
  const classOf = ({ name }) => (name === 'share' || name === Data.page.rank_by ? 'number' : 'number aside');

  /** @type {(row: Sums | null, columns: Column[]) => HTMLElement[]} */
  const cells = (row, columns) =>
    columns.map((column) => {
      const value = row ? row[column.name] : null;
      const share = column.name === 'share' && value !== null;
      const bar = share ? Dom.withVariables(Dom.element('span', { class: 'bar', 'aria-hidden': 'true' }), { '--part': value }) : null;
      if (value === 0 && !share) return Dom.element('td', { class: `${classOf(column)} none` }, '0');
      const text = row ? Numbers.cell(value, column.unit) : '';
      return Dom.element('td', { class: classOf(column) }, bar, share ? Dom.element('span', { class: 'percent' }, text) : text);
    });

  /** @type {(file: string, number: number, text: string, row: Sums | null, columns: Column[]) => HTMLElement} */
  const lineRow = (file, number, text, row, columns) => {
    const hot = row && row.share >= HOT;
    return Dom.element(
      'tr',
      { id: idOf(file, number), class: hot ? 'hot' : row ? 'known' : null, tabindex: '-1' },
      Dom.element('th', { scope: 'row', class: 'number' }, hot ? Dom.element('span', { class: 'mark', title: 'hot line' }, '▶') : null, String(number)),
      cells(row, columns),
      Dom.element('td', { class: 'code' }, Texts.visibleSource(text) || ' '),
    );
  };

  /**
   * Lines of a file in order; null stands for lines that the page does not hold.
   * @type {(file: string) => ({ number: number, text: string } | null)[]}
   */
  const content = (file) =>
    (Data.sources.get(file) ?? []).flatMap((stretch, position) => {
      const texts = stretch.lines.map((text, index) => ({ number: stretch.first_line + index, text }));
      return position === 0 && stretch.first_line === 1 ? texts : [null, ...texts];
    });

  /** @type {(number: number, rows: Map<number, Sums>) => boolean} */
  const isNear = (number, rows) => {
    for (let line = number - CONTEXT; line <= number + CONTEXT; line += 1) if (rows.has(line)) return true;
    return false;
  };

  /**
   * Rows of the table's body; stretches without numbers give way to a button, but around the wanted line.
   * @type {(file: string, columns: Column[], wanted: number) => HTMLElement[]}
   */
  const bodyRows = (file, columns, wanted) => {
    const rows = shown.files.get(file)?.rows ?? new Map();
    /** @type {HTMLElement[]} */
    const made = [];
    /** @type {HTMLElement[]} */
    let hidden = [];
    const fold = () => {
      if (hidden.length < FOLD_FROM) {
        made.push(...hidden);
        hidden = [];
        return;
      }
      const later = hidden;
      hidden = [];
      const button = Dom.button(`${Numbers.grouped(later.length)} lines without an access`, () => row.replaceWith(...later));
      const row = Dom.element('tr', { class: 'fold' }, Dom.element('td', { colspan: columns.length + 2 }, button));
      made.push(row);
    };
    for (const line of content(file)) {
      if (line === null) {
        fold();
        made.push(Dom.element('tr', { class: 'fold' }, Dom.element('td', { colspan: columns.length + 2 }, '…')));
      } else if (isNear(line.number, rows) || Math.abs(line.number - wanted) <= CONTEXT) {
        fold();
        made.push(lineRow(file, line.number, line.text, rows.get(line.number) ?? null, columns));
      } else {
        hidden.push(lineRow(file, line.number, line.text, null, columns));
      }
    }
    fold();
    return made;
  };

  /** @type {(file: string, wanted: number) => HTMLElement} */
  const fileTable = (file, wanted) => {
    const { columns } = shown;
    const name = Texts.visible(file);
    const table = Dom.element(
      'table',
      { class: 'source' },
      Dom.element('caption', {}, name),
      Dom.element(
        'thead',
        {},
        Dom.element(
          'tr',
          {},
          Dom.element('th', { scope: 'col', class: 'number' }, 'line'),
          columns.map((column) => Dom.element('th', { scope: 'col', class: classOf(column) }, Texts.visible(column.title))),
          Dom.element('th', { scope: 'col' }, 'source'),
        ),
      ),
      Dom.element('tbody', {}, bodyRows(file, columns, wanted)),
    );
    return Dom.element('div', { class: 'scroll tall', tabindex: '0', role: 'region', 'aria-label': `Source of ${name}` }, table);
  };

  /** A sampled program's files may have changed since it was compiled. */
  const unquoted = () =>
    Dom.element(
      'p',
      {},
      'This page holds no source: samples don’t say which text was compiled. If the files are still those, name their folder: ',
      Dom.element('code', {}, `trackway view --source-root FOLDER ${Data.trace}`),
    );

  /** A choice of files, the one with the largest share first. None if the page holds no source. */
  const create = () => {
    if (costs.length === 0) return Data.part('samples') && !Data.part('misses') ? unquoted() : null;
    const place = Dom.element('div', { class: 'source-place' });
    const select = Dom.element('select');
    /** @type {(entry: [string, FileCosts]) => HTMLElement} */
    const option = ([file, { share }]) =>
      Dom.element('option', { value: file }, `${Texts.visible(file)} (${Numbers.percent(share)})`);
    /**
     * A file that costs nothing in the chosen time and threads can still be looked at.
     * @type {(file: string, wanted?: number) => void}
     */
    const open = (file, wanted = -Infinity) => {
      if (![...select.options].some(({ value }) => value === file)) select.append(option([file, { rows: new Map(), share: 0 }]));
      select.disabled = false;
      select.value = file;
      place.replaceChildren(fileTable(file, wanted));
    };
    /** @type {(chosen: ShownCosts) => void} */
    const choose = (chosen) => {
      shown = chosen;
      const ranked = [...shown.files].sort(([, a], [, b]) => b.share - a.share);
      select.replaceChildren(...ranked.map(option));
      select.disabled = ranked.length === 0;
      if (ranked.length > 0) open(ranked[0][0]);
      else place.replaceChildren(ChosenBar.emptyNote(Places.isNothing() ? '' : ' by lines of which this page has the source'));
    };
    const numbers = Dom.element(
      'select',
      {},
      costs.map(({ title }, index) => Dom.element('option', { value: index }, title)),
    );
    numbers.addEventListener('change', () => choose(costs[Number(numbers.value)]));
    select.addEventListener('change', () => open(select.value));
    Chosen.onChange(() => {
      const selected = selectedCosts();
      numbers.disabled = selected !== null;
      choose(selected ?? costs[Number(numbers.value) || 0]);
    });
    show = (file, line) => {
      Router.leave('source');
      const other = shown.files.has(file) || !Chosen.isAll() ? undefined : costs.find(({ files }) => files.has(file));
      if (other) {
        numbers.value = String(costs.indexOf(other));
        choose(other);
      }
      open(file, line);
      const row = document.getElementById(idOf(file, line));
      row?.focus({ preventScroll: true });
      row?.scrollIntoView({ block: 'center' });
    };
    choose(costs[0]);
    const choices = [Dom.element('label', {}, 'File ', select)];
    if (costs.length > 1) choices.unshift(Dom.element('label', {}, 'Numbers of ', numbers));
    return Dom.element('div', {}, Dom.element('div', { class: 'tools' }, choices), place);
  };

  return { link, create };
})();
