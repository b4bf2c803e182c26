/** The part of any analysis: its sentence, and each table as a chart, if it has the columns of one, else as it is. */
const PartView = (() => {
  /** @type {ChartKind[]} */
  const CHARTS = [
    LayoutChart,
    CurveChart,
    MapChart,
    LiveChart,
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
    const isElsewhere = (table) => Audit.isBookkeeping(table.name) || table.name === 'site_owners' || ChosenSums.isSource(table);
    return part.tables
      .filter((table) => drawn.has(table) || !(isCompanion(table) || isElsewhere(table)))
      .map((table) => drawn.get(table) ?? plain(part, table));
  };

  /** Tables of details, of which a part may have many: each is opened if it is asked for. */
  const DETAILS = ['affinity', 'not_proposed'];

  /** @type {(part: Part, table: Table) => HTMLElement} */
  const plain = ({ name }, table) =>
    DETAILS.includes(table.name) ? Dom.details(`Table: ${Texts.visible(table.title)}`, () => ChosenTables.shown(name, table)) : ChosenTables.shown(name, table);

  /** @type {(part: Part) => Child} */
  const create = (part) => [ChosenAnswers.shown(part), draw(part)];

  return { create };
})();
