/** The parts of the page in order. What has nothing to show is left out. */
const Sections = (() => {
  const activity = () => {
    const table = Data.table('activity', 'activity');
    return table ? ActivityChart.create(table, Data.table('activity', 'activity_axis'), Data.table('activity', 'gaps')) : null;
  };

  /** Of programs that count: what their source is read for. */
  const COUNTED = ['series', 'regions'];
  /** Parts that have a section of their own kind. */
  const KNOWN = ['misses', 'sharing', 'activity', 'info'];

  /** @type {(isWanted: (name: string) => boolean) => PageSection[]} */
  const drawn = (isWanted) =>
    Data.parts
      .filter(({ name }) => isWanted(name))
      .map((part) => ({
        id: `part-${part.name.replace(/[^a-z0-9]/g, '-')}`,
        title: part.title,
        make: () => PartView.create(part),
      }));

  /** @type {() => PageSection[]} */
  const all = () => [
    { id: 'overview', title: 'Overview', make: Overview.create },
    { id: 'misses', title: 'Offenders', make: Offenders.create },
    ...drawn((name) => COUNTED.includes(name)),
    { id: 'source', title: 'Source', make: SourceView.create },
    { id: 'sharing', title: 'Sharing', make: Sharing.create },
    ...drawn((name) => !COUNTED.includes(name) && !KNOWN.includes(name)),
    { id: 'activity', title: 'Threads over time', make: activity },
    { id: 'audit', title: 'Audit', make: Audit.create },
  ];

  /** @type {(content: Child) => boolean} */
  const isEmpty = (content) => Dom.nodesOf(content).length === 0;

  /** @type {(id: string, title: string, content: Child) => HTMLElement} */
  const section = (id, title, content) =>
    Dom.element('section', { id, 'aria-labelledby': `${id}-title` }, Dom.element('h2', { id: `${id}-title`, tabindex: '-1' }, Texts.visible(title)), content);

  /** [{ id, title, element }] */
  const create = () =>
    all().flatMap(({ id, title, make }) => {
      const content = make();
      return isEmpty(content) ? [] : [{ id, title, element: section(id, title, content) }];
    });

  return { create };
})();
