/** Search over all names of the page: `/` goes there, arrows choose, enter opens. */
const Search = (() => {
  /** @typedef {{ kind: string, name: string, weight: number, href: string }} Entry */

  const MOST = 30;
  const KINDS = /** @type {const} */ (['field', 'variable', 'type', 'function', 'line', 'file']);

  /** @type {() => Entry[]} */
  const entries = () => {
    /** @type {Entry[]} */
    const made = [];
    for (const kind of KINDS) {
      for (const [name, places] of Places.by(kind)) {
        if (!Places.has(kind, name)) continue;
        const weight = places.reduce((sum, place) => sum + place.counts[Places.ranking], 0);
        made.push({ kind, name, weight, href: '' });
      }
    }
    const seen = new Set();
    for (const table of Data.part('memory')?.tables ?? []) {
      if (!table.has('function', 'file', 'line')) continue;
      for (const row of table.rows) {
        const name = `${table.value(row, 'file')}:${table.value(row, 'line')}`;
        if (seen.has(name) || table.value(row, 'line') === null) continue;
        seen.add(name);
        made.push({ kind: 'allocation site', name, weight: 0, href: '#part-memory' });
      }
    }
    const memory = new Set(Data.part('map')?.tables.find(({ name }) => name === 'owners')?.objects().map((row) => String(row.name)));
    for (const name of memory) made.push({ kind: 'memory', name, weight: 0, href: '#part-map' });
    for (const row of Data.part('regions')?.tables.find(({ name }) => name === 'regions')?.objects() ?? []) {
      made.push({ kind: 'region', name: String(row.region ?? ''), weight: 0, href: '#part-regions' });
    }
    for (const file of Data.sources.keys()) {
      if (!Places.has('file', file)) made.push({ kind: 'file', name: file, weight: 0, href: '#source' });
    }
    for (const { term } of Terms.all) made.push({ kind: 'term', name: term, weight: 0, href: `#${Terms.idOf(term)}` });
    document.querySelectorAll('main > section > h2').forEach((title) => {
      const { id } = title.parentElement ?? {};
      if (id && id !== 'entity') made.push({ kind: 'section', name: title.textContent ?? '', weight: 0, href: `#${id}` });
    });
    return made;
  };

  /**
   * Names that begin with the word come before those that hold it; then those that cost most.
   * @type {(all: Entry[], word: string) => Entry[]}
   */
  const find = (all, word) => {
    const wanted = word.toLowerCase().split(/\s+/).filter(Boolean);
    if (wanted.length === 0) return [];
    /** @type {(entry: Entry) => number} */
    const rank = ({ kind, name }) => {
      const text = name.toLowerCase();
      if (!wanted.every((part) => text.includes(part) || kind === part)) return -1;
      if (text === wanted[0]) return 3;
      if (text.startsWith(wanted[0])) return 2;
      return new RegExp(`[^a-z0-9]${wanted[0].replace(/[^a-z0-9]/g, '\\$&')}`).test(text) ? 1 : 0;
    };
    return all
      .map((entry) => ({ entry, rank: rank(entry) }))
      .filter(({ rank: found }) => found >= 0)
      .sort((a, b) => b.rank - a.rank || b.entry.weight - a.entry.weight || a.entry.name.length - b.entry.name.length)
      .map(({ entry }) => entry);
  };

  const create = () => {
    /** @type {Entry[] | null} */
    let all = null;
    /** @type {Entry[]} */
    let found = [];
    let at = -1;
    const input = Dom.element('input', {
      type: 'search',
      placeholder: 'Search ( / )',
      role: 'combobox',
      'aria-label': 'Search names: fields, variables, types, functions, lines, allocation sites, terms',
      'aria-controls': 'search-list',
      'aria-expanded': 'false',
      'aria-autocomplete': 'list',
      autocomplete: 'off',
    });
    const list = Dom.element('ul', { id: 'search-list', role: 'listbox', 'aria-label': 'Found' });
    const status = Dom.element('span', { role: 'status', class: 'hidden-text' });
    list.hidden = true;

    const close = () => {
      list.hidden = true;
      at = -1;
      input.setAttribute('aria-expanded', 'false');
      input.removeAttribute('aria-activedescendant');
    };
    /** @type {(entry: Entry) => void} */
    const open = ({ kind, name, href }) => {
      close();
      input.blur();
      if (href) Router.leave();
      location.hash = href || Router.fragment(kind, name);
    };
    /** @type {(next: number) => void} */
    const choose = (next) => {
      at = found.length > 0 ? (next + found.length) % found.length : -1;
      [...list.children].forEach((item, index) => {
        item.setAttribute('aria-selected', String(index === at));
        if (index === at) item.scrollIntoView({ block: 'nearest' });
      });
      if (at >= 0) input.setAttribute('aria-activedescendant', `found-${at}`);
    };
    const update = () => {
      all ??= entries();
      const every = find(all, input.value);
      found = every.slice(0, MOST);
      list.replaceChildren(
        ...found.map((entry, index) => {
          const item = Dom.element(
            'li',
            { role: 'option', id: `found-${index}`, 'aria-selected': 'false' },
            Dom.element('span', { class: 'kind' }, entry.kind),
            ' ',
            Names.code(entry.name),
          );
          item.addEventListener('pointerdown', (event) => {
            event.preventDefault();
            open(entry);
          });
          return item;
        }),
      );
      list.hidden = found.length === 0;
      input.setAttribute('aria-expanded', String(found.length > 0));
      status.textContent = input.value ? `${every.length} found` : '';
      choose(0);
    };
    input.addEventListener('input', update);
    input.addEventListener('blur', close);
    input.addEventListener('keydown', (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (by !== undefined) choose(at + by);
      else if (event.key === 'Enter' && found[at]) open(found[at]);
      else if (event.key === 'Escape') close();
      else return;
      event.preventDefault();
    });
    addEventListener('keydown', (event) => {
      const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.focus();
      input.select();
    });
    return Dom.element('search', { class: 'search' }, input, status, list);
  };

  return { create };
})();
