/** The changes that are advised of each of two traces, beside each other: which are advised no more, and which newly are. */
const ComparedCards = (() => {
  /** @typedef {{ title: string, saves: number, because: string }} Card */

  /** @type {(part: Part) => Card[]} */
  const cardsOf = ({ tables }) => {
    const rows = tables.find(({ name }) => name === 'cards')?.objects() ?? [];
    const details = tables.filter(({ name }) => name === 'card').map((table) => table.record());
    return rows.map((row, index) => {
      const change = Texts.visible(row.change);
      const title = `${change.slice(0, 1).toUpperCase()}${change.slice(1)} of ${Names.short(row.of)}`;
      return { title, saves: Number(row.saves ?? 0), because: Texts.visible(details[index]?.because) };
    });
  };

  /** @type {(card: Card, state: string) => HTMLElement} */
  const item = ({ title, saves, because }, state) =>
    Dom.element(
      'li',
      {},
      Dom.element('h5', {}, title),
      Dom.element('p', {}, Dom.element('strong', {}, Numbers.percent(saves)), ' of the estimated time: ', Dom.element('em', {}, state), '.'),
      because ? Dom.element('p', {}, because) : null,
    );

  /** @type {(title: string, part: Part, others: Card[], alone: string, both: (other: Card) => string) => HTMLElement} */
  const column = (title, part, others, alone, both) => {
    const items = cardsOf(part).map((card) => {
      const other = others.find((candidate) => candidate.title === card.title);
      return item(card, other ? both(other) : alone);
    });
    return Dom.element(
      'div',
      {},
      Dom.element('h4', {}, title),
      items.length > 0 ? Dom.element('ol', {}, items) : Dom.element('p', { class: 'status' }, Names.sentence(part.answer)),
    );
  };

  /** None if no changes were looked for in both traces. */
  const create = () => {
    const pair = Comparison.pair('advice');
    if (!pair) return null;
    const [first, second] = pair;
    return Dom.element(
      'div',
      { class: 'compared' },
      column('First trace', first, cardsOf(second), 'not advised in the second trace', ({ saves }) => `still advised in the second trace, for ${Numbers.percent(saves)}`),
      column('Second trace', second, cardsOf(first), 'not advised in the first trace', ({ saves }) => `advised in the first trace, too, for ${Numbers.percent(saves)}`),
    );
  };

  return { create };
})();
