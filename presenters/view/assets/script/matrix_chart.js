/** A matrix of counts as a table, whose cells are tinted by their part of the largest. */
const MatrixChart = (() => {
  /** @type {(count: number, largest: number) => HTMLElement} */
  const cell = (count, largest) => {
    if (!count) return Dom.element('td', { class: 'number none' }, '·');
    const made = Dom.element('td', { class: 'number heat' }, Numbers.grouped(count));
    // The square root keeps small counts apart from none.
    return Dom.withVariables(made, { '--heat-part': Math.sqrt(count / largest) });
  };

  /**
   * `headTitles` name the heads of a row; `count` is asked by the keys of a row and a column.
   * @param {object} content
   * @param {string} content.title
   * @param {string[]} content.headTitles
   * @param {{ key: string | number, heads: Child[] }[]} content.rows
   * @param {{ key: number, title: string }[]} content.columns
   * @param {(row: string | number, column: number) => number} content.count
   */
  const create = ({ title, headTitles, rows, columns, count }) => {
    const largest = Math.max(1, ...rows.flatMap((row) => columns.map((column) => count(row.key, column.key))));
    const head = Dom.element(
      'tr',
      {},
      headTitles.map((text) => Dom.element('th', { scope: 'col' }, text)),
      columns.map((column) => Dom.element('th', { scope: 'col', class: 'number' }, column.title)),
    );
    const body = rows.map((row) =>
      Dom.element(
        'tr',
        {},
        row.heads.map((text, position) =>
          position === 0 ? Dom.element('th', { scope: 'row' }, text) : Dom.element('td', { class: 'name' }, text),
        ),
        columns.map((column) => cell(count(row.key, column.key), largest)),
      ),
    );
    const table = Dom.element(
      'table',
      { class: 'matrix' },
      Dom.element('caption', {}, title),
      Dom.element('thead', {}, head),
      Dom.element('tbody', {}, body),
    );
    return Dom.element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': title }, table);
  };

  return { create };
})();
