/** What changed from the first of two traces to the second: advice, numbers, paths of calls, curves, layouts and memory. */
const ComparisonView = (() => {
  const maps = () => {
    const pair = Comparison.pair('map');
    const drawn = pair && MapPair.create(...pair);
    if (!drawn) return null;
    const [first, second] = drawn;
    return [
      Dom.element('p', {}, 'Both have one scale of time: to zoom into one shows the same time of the other. Colours go from the least to the most of each.'),
      Dom.element('h4', {}, 'First trace'),
      first,
      Dom.element('h4', {}, 'Second trace'),
      second,
    ];
  };

  /** @type {(title: string, content: Child) => Child} */
  const section = (title, content) => (content ? Chart.section(title, content) : null);

  /** @type {(part: Part) => Child} */
  const create = (part) => [
    part.answer ? Dom.element('p', { class: 'answer' }, Names.sentence(part.answer)) : null,
    PartView.create({ ...part, answer: '', tables: part.tables.filter(({ name }) => name === 'compared') }),
    section('What to change, in both traces', ComparedCards.create()),
    section('Numbers that changed', PartView.create({ ...part, answer: '', tables: part.tables.filter(({ name }) => name !== 'compared') })),
    section('Paths of calls that changed', FlameDifference.create()),
    section('Structures of both traces', ComparedLayouts.create()),
    section('Miss ratio of both traces, by the size of the cache', ComparedCurves.create()),
    section('Memory over time, of both traces', maps()),
  ];

  return { create };
})();
