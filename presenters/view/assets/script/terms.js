/** What words mean: of columns beside their table, of the glossary in a section of its own. */
const Terms = (() => {
  /** @type {[RegExp, string][]} */
  const COLUMNS = [
    [/^accesses$/, 'Executions of loads, stores and atomic operations; each side of a copy or fill is one.'],
    [/^reads$|^loads$/, 'Accesses that read.'],
    [/^writes$|^stores$/, 'Accesses that write.'],
    [/^bytes$/, 'Bytes that the accesses read or write, each time anew: not those that come from memory.'],
    [/^l(\d)_misses$/, 'Lines of cache that the simulated cache of this level did not hold when they were looked up.'],
    [/^misses$/, 'Lines that the ranking level of the simulated caches did not hold.'],
    [/^share$/, 'The row’s part of the number by which the table is ranked, over the whole trace.'],
    [/^miss_ratio$/, 'Misses ÷ lookups.'],
    [/^cycles(_before|_after)?$/, 'Estimated cycles of all threads, by the latencies of the machine: a model, no measurement.'],
    [/^saves$/, 'The part of the estimated cycles of all threads that the change saves.'],
    [/^(read|write)_hand_overs$/, 'Accesses that had to take the cache line from another thread.'],
    [/^stream$/, 'The records of one thread, by their number in the trace.'],
    [/^kind$/, 'Load, store, atomic operation, or one side of a copy.'],
    [/^field$/, 'A member of a type by its path; an access to no field goes by its variable.'],
    [/^size_bytes$/, 'Bytes.'],
    [/^(peak|allocated|never_released)_bytes$/, 'Bytes of blocks from allocators.'],
    [/^short_lived$/, 'Blocks that were released before a thousandth of the accesses went by, or what --short-life says.'],
    [/^reached$/, 'Lookups that came to this level.'],
    [/^own_/, 'Of the function’s own code, with what was inlined nowhere else.'],
    [/^all_/, 'Of the function and all that it calls.'],
    [/^(delta|change)/, 'After minus before.'],
    [/^offset/, 'Bytes from the beginning of the object.'],
    [/^weight$/, 'How much the samples count; their unit is that of their source.'],
  ];

  /** @type {(column: Column) => string | undefined} */
  const ofColumn = ({ name }) => COLUMNS.find(([pattern]) => pattern.test(name))?.[1];

  let number = 0;

  /**
   * A button that opens explanations; none without any.
   * @type {(about: string, entries: [string, string][]) => HTMLElement | null}
   */
  const button = (about, entries) => {
    if (entries.length === 0) return null;
    number += 1;
    const id = `terms-${number}`;
    const list = Dom.element('dl', {}, entries.map(([term, text]) => [Dom.element('dt', {}, term), Dom.element('dd', {}, text)]));
    const popover = Dom.element('div', { id, popover: 'auto', class: 'terms', role: 'dialog', 'aria-label': `Terms of ${about}` }, list);
    const opener = Dom.element('button', { type: 'button', popovertarget: id, class: 'explain', 'aria-label': `What the numbers of ${about} mean` }, '?');
    return Dom.element('span', { class: 'explained' }, opener, popover);
  };

  /** @type {(table: Table) => HTMLElement | null} */
  const ofTable = (table) => {
    /** @type {[string, string][]} */
    const entries = [];
    for (const column of table.columns) {
      const text = ofColumn(column);
      if (text) entries.push([Texts.visible(column.title), text]);
    }
    return button(Texts.visible(table.title), entries);
  };

  const all = Data.page.terms ?? [];

  /** @type {(term: string) => string} */
  const idOf = (term) => `term-${term.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`;

  const create = () =>
    all.length > 0
      ? Dom.element(
          'dl',
          { class: 'glossary' },
          all.map(({ term, text }) => [Dom.element('dt', { id: idOf(term), tabindex: '-1' }, term), Dom.element('dd', {}, text)]),
        )
      : null;

  return { ofTable, button, create, all, idOf };
})();
