/** The part of any analysis: its sentence, and each table as a chart, if it has the columns of one, else as it is. */
const PartView = (() => {
  const CHARTS = [LayoutChart, CurveChart, MapChart];

  const chartOf = (table, part) => {
    const chart = CHARTS.find((candidate) => table.has(...candidate.COLUMNS));
    return chart?.create(table, part) ?? null;
  };

  /** Scales stand below the chart that they belong to. */
  const isScale = (table) => MapChart.SCALES.some((columns) => table.has(...columns));

  const create = (part) => {
    const drawn = part.tables.map((table) => ({ table, chart: chartOf(table, part) }));
    const hasMap = drawn.some(({ table, chart }) => chart && table.has(...MapChart.COLUMNS));
    return [
      part.answer ? Dom.element('p', {}, Text.visible(part.answer)) : null,
      drawn.map(({ table, chart }) => chart ?? (hasMap && isScale(table) ? null : TableView.create(table))),
    ];
  };

  return { create };
})();
