/** The parts of the page in order. What has nothing to show is left out. */
const Sections = (() => {
  const figures = (chart, ...more) => Data.tablesWith(...chart.COLUMNS).flatMap((table) => chart.create(table, ...more) ?? []);

  const activity = () => {
    const table = Data.table('activity', 'activity');
    return table ? ActivityChart.create(table, Data.table('activity', 'activity_axis'), Data.table('activity', 'gaps')) : null;
  };

  /** Analyses that the page has no chart for: their sentence and their tables. */
  const others = () => {
    const known = new Set(['misses', 'sharing', 'activity', 'info']);
    return Data.parts
      .filter((part) => !known.has(part.name))
      .map((part) => ({
        id: `part-${part.name.replace(/[^a-z0-9]/g, '-')}`,
        title: part.title,
        make: () => [
          part.answer ? Dom.element('p', {}, Text.visible(part.answer)) : null,
          part.tables.map((table) => TableView.create(table)),
        ],
      }));
  };

  const all = () => [
    { id: 'overview', title: 'Overview', make: Overview.create },
    { id: 'misses', title: 'Offenders', make: Offenders.create },
    { id: 'source', title: 'Source', make: SourceView.create },
    { id: 'layouts', title: 'Layouts', make: () => figures(LayoutChart, Data.lineBytes()) },
    { id: 'sharing', title: 'Sharing', make: Sharing.create },
    { id: 'curves', title: 'Miss ratios', make: () => figures(CurveChart) },
    { id: 'map', title: 'Addresses over time', make: () => figures(MapChart) },
    { id: 'activity', title: 'Threads over time', make: activity },
    ...others(),
    { id: 'audit', title: 'Audit', make: Audit.create },
  ];

  const isEmpty = (content) => content === null || (Array.isArray(content) && content.flat(Infinity).filter(Boolean).length === 0);

  const section = (id, title, content) =>
    Dom.element('section', { id, 'aria-labelledby': `${id}-title` }, Dom.element('h2', { id: `${id}-title`, tabindex: '-1' }, Text.visible(title)), content);

  /** [{ id, title, element }] */
  const create = () =>
    all().flatMap(({ id, title, make }) => {
      const content = make();
      return isEmpty(content) ? [] : [{ id, title, element: section(id, title, content) }];
    });

  return { create };
})();
