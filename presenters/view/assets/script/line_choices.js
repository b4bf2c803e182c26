/** Checkboxes that choose which lines of a plot are drawn, each with a swatch of its line. */
const LineChoices = (() => {
  /** @typedef {{ name: string, style: string, shown: boolean }} Line */

  /** @type {(line: Line, redraw: () => void) => HTMLElement} */
  const checkbox = (line, redraw) => {
    const box = Dom.element('input', { type: 'checkbox' });
    box.checked = line.shown;
    box.addEventListener('change', () => {
      line.shown = box.checked;
      redraw();
    });
    const swatch = Dom.svg(
      'svg',
      { viewBox: '0 0 28 8', class: 'line-swatch', 'aria-hidden': 'true' },
      Dom.svg('path', { d: 'M0 4H28', class: `curve ${line.style}` }),
    );
    return Dom.element('label', {}, box, swatch, Dom.element('span', {}, line.name));
  };

  /**
   * `rest` says what there is no checkbox for.
   * @type {(lines: Line[], redraw: () => void, rest?: Child) => HTMLElement}
   */
  const create = (lines, redraw, rest = null) =>
    Dom.element(
      'fieldset',
      { class: 'choices many' },
      Dom.element('legend', {}, 'Lines'),
      lines.map((line) => checkbox(line, redraw)),
      rest,
    );

  return { create };
})();
