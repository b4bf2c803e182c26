/** What words mean: of columns beside their table, of the glossary in a section of its own. */
const Terms = (() => {
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
      const text = ColumnTerms.of(table.name, column.name);
      if (text) entries.push([TableView.titleOf(column), text]);
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
