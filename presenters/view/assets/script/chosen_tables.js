/** Tables of the chosen time and threads, and how they stand in the page: each says what it is of while something is chosen. */
const ChosenTables = (() => {
  /** @typedef {(table: Table) => Table | null} Maker */

  /**
   * The table with other rows; without those in which the column is 0, and with its parts of their sum, if there are such.
   * @type {(table: Table, rows: Cells[], ranked: (row: Cells) => number) => Table}
   */
  const ranked = (table, rows, rank) => {
    const kept = rows.filter((row) => rank(row) > 0).sort((a, b) => rank(b) - rank(a));
    return table.withRows(kept.map((row) => table.columns.map(({ name }) => row[name] ?? null)));
  };

  /** @type {(part: number, whole: number) => number | null} */
  const ratio = (part, whole) => (whole > 0 ? part / whole : null);

  /** Nanoseconds of a row against the chosen ones. @type {(from: number, width: number) => boolean} */
  const isInTime = (from, width) => {
    const [first, last] = Chosen.times();
    return Chosen.isAllTime() || (from < last && from + width > first);
  };

  /** @type {Maker} */
  const structures = (table) => {
    if (!LayoutSums.isKnown) return null;
    const sums = LayoutSums.byType();
    const { name: rankedBy } = Places.measures[Places.ranking];
    const all = Places.sum(Places.all)[Places.ranking];
    const rows = table.objects().map((row) => {
      const own = sums.get(String(row.type)) ?? Places.zero();
      const counts = Object.fromEntries(Places.measures.map(({ name }, position) => [name, own[position]]));
      return { ...row, ...counts, share: ratio(counts[rankedBy], all) };
    });
    return table.withRows(rows.map((row) => table.columns.map(({ name }) => /** @type {Cells} */ (row)[name] ?? null)));
  };

  /** Sites in the order of the table, by their own counts. @type {Maker} */
  const allocations = (table) => {
    const moments = Data.table('memory', 'allocation_moments');
    if (!moments) return null;
    const sums = ChosenSums.by(moments, ['row']);
    const unknown = { short_lived: null, mean_life_accesses: null, mean_life_us: null };
    const rows = table.objects().flatMap((row, number) => {
      const own = sums.get(String(number));
      return own ? [{ ...row, ...unknown, ...own }] : [];
    });
    const made = ranked(table, rows, (row) => Number(row.allocated_bytes) + Number(row.allocations) + Number(row.failed));
    return made.without(Object.keys(unknown));
  };

  /** @type {Maker} */
  const overTime = (table) => table.withRows(table.rows.filter((row) => isInTime(Number(table.value(row, 'from_ns')), Number(table.value(row, 'width_ns')))));

  /**
   * A table of transfers, whose rows are told apart by the key in the one by time.
   * @type {(table: Table, sums: Map<string, Record<string, number>>, keyOf: (row: Cells, number: number) => string) => Table}
   */
  const transfers = (table, sums, keyOf) => {
    /** @type {(row: { read_hand_overs?: Cell, write_hand_overs?: Cell }) => number} */
    const all = (row) => Number(row.read_hand_overs) + Number(row.write_hand_overs);
    const whole = Sharing.chosenTransfers();
    const rows = table.objects().flatMap((row, number) => {
      const own = sums.get(keyOf(row, number));
      if (!own) return [];
      const parts = { share: ratio(all(own), whole), false_sharing: ratio(own.false_hand_overs, all(own)), certain: ratio(own.certain_hand_overs, all(own)) };
      return [{ ...row, ...own, ...parts }];
    });
    return ranked(table, rows, all).without(['cache_lines', 'threads']);
  };

  /** @type {(moments: 'field_moments' | 'line_moments') => Maker} */
  const listed = (moments) => (table) => {
    const found = Data.table('sharing', moments);
    return found ? transfers(table, ChosenSums.by(found, ['row'], 'to_stream'), (_, number) => String(number)) : null;
  };

  /** @type {Maker} */
  const pairs = (table) => {
    const sums = Sharing.chosenPairs();
    return sums ? transfers(table, sums, (row) => `${row.from_stream} ${row.to_stream}`) : null;
  };

  /** What threads took of lines; how often they accessed them isn't known for a part of the time. @type {Maker} */
  const sharedLines = (table) => {
    const rows = Sharing.chosenLines(/** @type {SharedLine[]} */ (/** @type {unknown} */ (table.objects())));
    return rows ? table.withRows(rows.map((row) => table.columns.map(({ name }) => /** @type {Cells} */ (row)[name] ?? null))).without(['reads', 'writes', 'certain']) : null;
  };

  /** @type {Maker} */
  const cells = (table) => {
    const times = Data.part('map')?.tables.find(({ name }) => name === 'map_times');
    const levels = new Map((times?.objects() ?? []).map((level) => [level.level, level]));
    return table.withRows(
      table.rows.filter((row) => {
        const level = levels.get(table.value(row, 'level'));
        if (!level) return true;
        const width = Number(level.bin_ns);
        return isInTime(Number(level.first_ns) + Number(table.value(row, 'time_bin')) * width, width);
      }),
    );
  };

  /** @type {Maker} */
  const activity = (table) => {
    const axis = Data.record('activity', 'activity_axis');
    const [first, width] = [(axis.first_us ?? 0) * 1000, axis.bin_ns ?? 0];
    return table.withRows(
      table.rows.filter((row) => Chosen.holdsStream(Number(table.value(row, 'stream'))) && isInTime(first + Number(table.value(row, 'time_bin')) * width, width)),
    );
  };

  /** A gap without times may be at any. @type {Maker} */
  const gaps = (table) =>
    table.withRows(
      table.rows.filter((row) => {
        const [first, last] = [table.value(row, 'first_us'), table.value(row, 'last_us')].map((time) => (time === null ? null : Number(time) * 1000));
        const from = first ?? last;
        const to = last ?? first;
        return Chosen.holdsStream(Number(table.value(row, 'stream'))) && (from === null || to === null || isInTime(from, Math.max(to - from, 1)));
      }),
    );

  /** @type {Maker} */
  const reuseOfFields = (table) => {
    const rows = ChosenDistances.fieldRows(table);
    return rows && ranked(table, rows, (row) => Number(row.accesses));
  };

  /** The accessed memory, by owner; what was touched of it isn't known for a part of the time. @type {Maker} */
  const owners = (table) => {
    const moments = Data.table('map', 'owner_moments');
    if (!moments) return null;
    const [sums, threads] = [ChosenSums.by(moments, ['row']), ChosenSums.threadsByRow(moments)];
    const listed = [...sums.values()].reduce((sum, { reads, writes }) => sum + reads + writes, 0);
    const whole = Math.max(listed, Places.accesses());
    const rows = table.objects().flatMap((row, number) => {
      const own = sums.get(String(number));
      return own ? [{ ...row, ...own, share: ratio(own.reads + own.writes, whole), threads: threads.get(number) ?? 0 }] : [];
    });
    return ranked(table, rows, (row) => Number(row.reads) + Number(row.writes)).without(['touched_bytes', 'first_us', 'last_us']);
  };

  /** By part and table. @type {Record<string, Record<string, Maker>>} */
  const MAKERS = {
    layout: { structures },
    memory: { allocations, memory_over_time: overTime },
    sharing: { fields: listed('field_moments'), lines: listed('line_moments'), thread_pairs: pairs, shared_lines: sharedLines },
    map: { map_cells: cells, owners },
    reuse: { fields: reuseOfFields },
    activity: { activity, gaps },
  };

  /** Scales of drawings, which nothing that is chosen changes. */
  const SCALES = ['activity_axis', 'map_times', 'map_addresses'];

  /** @type {(title: string, of: string) => string} */
  const titled = (title, of) => `${title.split(/, \d/)[0]}, of ${of}`;

  /** @type {(part: string, table: Table) => Table} */
  const of = (part, table) => {
    if (Chosen.isAll() || SCALES.includes(table.name)) return table;
    const made = MAKERS[part]?.[table.name]?.(table) ?? null;
    if (made) return made.withTitle(titled(table.title, 'the chosen time and threads'));
    return table.withTitle(`${table.title}, of the whole trace`);
  };

  /**
   * The table as it is for what is chosen, and made anew whenever that changes.
   * @type {(part: string, table: Table, options?: { rows?: number, title?: string }) => HTMLElement}
   */
  const shown = (part, table, options = {}) =>
    Chosen.redrawn(() => {
      const own = of(part, table);
      return own.layout === 'rows' && own.rows.length === 0 ? Dom.element('p', { class: 'status' }, `${Texts.visible(own.title)}: none.`) : TableView.create(own, options);
    });

  return { of, shown, titled };
})();
