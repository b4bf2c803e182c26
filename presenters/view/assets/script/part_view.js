/** The part of any analysis: its sentence, and each table as a chart, if it has the columns of one, else as it is. */
const PartView = (() => {
  /** @type {ChartKind[]} */
  const CHARTS = [
    LayoutChart,
    CurveChart,
    MapChart,
    SpotChart,
    SeriesChart,
    RegionChart,
    ThreadChart,
    InstructionChart,
    SizeChart,
  ];

  /**
   * What is drawn with the tables of a part; companions stand below the chart that they belong to.
   * @type {(part: Part) => Child[]}
   */
  const draw = (part) => {
    /** @type {Map<Table, Child>} */
    const drawn = new Map();
    /** @type {string[][]} */
    const companions = [];
    for (const table of part.tables) {
      if (companions.some((columns) => table.has(...columns))) continue;
      const chart = CHARTS.find((candidate) => table.has(...candidate.COLUMNS));
      const element = chart?.create(table, part);
      if (!chart || !element) continue;
      drawn.set(table, element);
      companions.push(...(chart.COMPANIONS ?? []));
    }
    /** @type {(table: Table) => boolean} */
    const isCompanion = (table) => !drawn.has(table) && companions.some((columns) => table.has(...columns));
    /** @type {(table: Table) => boolean} */
    const isElsewhere = ({ name }) => Audit.isBookkeeping(name) || name === 'site_owners';
    return part.tables
      .filter((table) => drawn.has(table) || !(isCompanion(table) || isElsewhere(table)))
      .map((table) => drawn.get(table) ?? plain(table));
  };

  /** Tables of details, of which a part may have many: each is opened if it is asked for. */
  const DETAILS = ['affinity', 'not_proposed'];

  /** @type {(table: Table) => HTMLElement} */
  const plain = (table) => (DETAILS.includes(table.name) ? Dom.details(`Table: ${Texts.visible(table.title)}`, () => shown(table)) : shown(table));

  /** @type {(table: Table) => HTMLElement} */
  const shown = (table) =>
    table.layout === 'rows' && table.rows.length === 0
      ? Dom.element('p', { class: 'status' }, `${Texts.visible(table.title)}: none.`)
      : TableView.create(table);

  /** @type {(part: Part) => Child} */
  const create = (part) => [part.answer ? Dom.element('p', {}, Names.sentence(part.answer)) : null, draw(part)];

  return { create };
})();
