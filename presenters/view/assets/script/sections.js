/** The parts of the page in order. What has nothing to show is left out. */
const Sections = (() => {
  const activity = () => {
    const table = Data.table('activity', 'activity');
    const chart = table && ActivityChart.create(table, Data.table('activity', 'activity_axis'), Data.table('activity', 'gaps'));
    return chart ? [ChosenBar.note(ActivityChart.remark, null), chart] : null;
  };

  const sharing = () => {
    const content = Sharing.create();
    return content ? [ChosenBar.note(Sharing.remark, 'sharing'), content] : null;
  };

  /** Two traces: what changed from the first to the second, of which the other parts are. */
  const comparison = () => {
    const part = Data.part('comparison');
    return part ? [ChosenBar.wholeNote(null), ComparisonView.create(part)] : null;
  };

  /** What allocations show of the chosen time and threads. */
  const memoryRemark = () => {
    const moments = Data.table('memory', 'allocation_moments');
    const lack = moments && ChosenSums.isCut(moments) ? ' They lack the smallest ones.' : '';
    return `Allocations are those that the chosen threads made in the chosen time; what is never released is live at the end of the trace.${lack} The drawing has the chosen time, and the memory that the chosen threads allocated. Its table by time is that of all threads. Other tables are of the whole trace.`;
  };

  /** What parts show of the chosen time and threads, and the verbs that can be asked for the rest. */
  const REMARKS = /** @type {Record<string, () => string>} */ ({ layout: LayoutChart.remark, reuse: CurveChart.remark, memory: memoryRemark, map: MapChart.remark });

  /** @type {(name: string) => Child} */
  const noteOf = (name) => (REMARKS[name] ? ChosenBar.note(REMARKS[name], name) : ChosenBar.wholeNote(null));

  /** @type {(part: Part) => Child} */
  const withItsNote = (part) => {
    const content = PartView.create(part);
    return isEmpty(content) ? null : [noteOf(part.name), content];
  };

  /** @type {(content: Child) => boolean} */
  const isEmpty = (content) => Dom.nodesOf(content).length === 0;

  /** Of programs that count: what their source is read for. */
  const COUNTED = ['series', 'regions'];
  /** Parts that have a section of their own kind. */
  const KNOWN = ['misses', 'missed_map', 'places', 'advice', 'comparison', 'sharing', 'activity', 'info'];

  /** @type {(isWanted: (name: string) => boolean) => PageSection[]} */
  const drawn = (isWanted) =>
    Data.parts
      .filter(({ name }) => isWanted(name))
      .map((part) => ({
        id: `part-${part.name.replace(/[^a-z0-9]/g, '-')}`,
        title: part.title,
        make: () => withItsNote(part),
      }));

  /** @type {() => PageSection[]} */
  const all = () => [
    { id: 'comparison', title: 'Comparison', make: comparison },
    { id: 'overview', title: 'Overview', make: Overview.create, terms: Overview.terms() },
    { id: 'misses', title: 'Offenders', make: Offenders.create },
    ...drawn((name) => COUNTED.includes(name)),
    { id: 'source', title: 'Source', make: SourceView.create },
    { id: 'flame', title: 'Paths of calls', make: () => FlameChart.create(), terms: FlameChart.terms() },
    { id: 'sharing', title: 'Sharing', make: sharing },
    ...drawn((name) => !COUNTED.includes(name) && !KNOWN.includes(name)),
    { id: 'activity', title: 'Threads over time', make: activity, terms: ActivityChart.TERMS },
    { id: 'audit', title: 'Audit', make: Audit.create },
    { id: 'terms', title: 'Terms', make: Terms.create },
  ];

  /** @type {(made: PageSection, content: Child) => HTMLElement} */
  const section = ({ id, title, terms = [] }, content) => {
    const heading = Dom.element('h2', { id: `${id}-title`, tabindex: '-1' }, Texts.visible(title));
    return Dom.element('section', { id, 'aria-labelledby': `${id}-title` }, heading, Terms.button(Texts.visible(title), terms), content);
  };

  /** [{ id, title, element }] */
  const create = () =>
    all().flatMap((made) => {
      const content = made.make();
      return isEmpty(content) ? [] : [{ id: made.id, title: made.title, element: section(made, content) }];
    });

  return { create };
})();
