/**
 * What each region executes: a bar of its instructions by kind.
 *
 * Tables: columns `region`, and a count for each kind of instruction.
 */
const InstructionChart = (() => {
  const COLUMNS = ['region', 'loads', 'stores', 'branches', 'calls'];
  const KINDS = ['loads', 'stores', 'atomics', 'integer', 'floating_point', 'vector', 'branches', 'calls'];

  /** @type {(table: Table) => Child} */
  const create = (table) => {
    if (table.rows.length === 0) return null;
    const kinds = KINDS.filter((name) => table.has(name));
    const rows = table
      .objects()
      .map((row) => ({ name: Texts.visible(row.region), values: kinds.map((kind) => Number(row[kind] ?? 0)) }));
    const bars = StackedBars.create({
      label: `Kinds of instructions that ${rows.length} regions executed`,
      counted: 'instructions',
      kinds: kinds.map((kind) => Texts.visible(table.column(kind).title)),
      rows,
    });
    const caption =
      'Executed instructions by kind, of the compiler’s intermediate code; on the right, how many there were in all.';
    return Chart.section(table.title, Chart.figure(bars, caption, [table]));
  };

  return { COLUMNS, create };
})();
