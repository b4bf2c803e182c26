/** The part of any analysis: its sentence, and each table as a chart, if it has the columns of one, else as it is. */
const PartView = (() => {
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

  /** What is drawn with the tables of a part; companions stand below the chart that they belong to. */
  const draw = (part) => {
    const drawn = new Map();
    const companions = [];
    for (const table of part.tables) {
      if (companions.some((columns) => table.has(...columns))) continue;
      const chart = CHARTS.find((candidate) => table.has(...candidate.COLUMNS));
      const element = chart?.create(table, part);
      if (!element) continue;
      drawn.set(table, element);
      companions.push(...(chart.COMPANIONS ?? []));
    }
    const isCompanion = (table) => !drawn.has(table) && companions.some((columns) => table.has(...columns));
    return part.tables.filter((table) => !isCompanion(table)).map((table) => drawn.get(table) ?? plain(table));
  };

  const plain = (table) =>
    table.layout === 'rows' && table.rows.length === 0
      ? Dom.element('p', { class: 'status' }, `${Text.visible(table.title)}: none.`)
      : TableView.create(table);

  const create = (part) => [part.answer ? Dom.element('p', {}, Text.visible(part.answer)) : null, draw(part)];

  return { create };
})();
