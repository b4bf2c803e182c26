/**
 * Structures to scale: a row for each cache line, fields by offset and size, the darker the more accesses.
 *
 * Tables: columns `type`, `field`, `offset`, `size`, `accesses`; `misses` if known. Bytes that no field takes are holes.
 */
const LayoutChart = (() => {
  /** @typedef {{ line: number, from: number, bytes: number }} Piece */

  const COLUMNS = ['type', 'field', 'offset', 'size', 'accesses'];
  const [WIDTH, ROW, LEFT, TOP] = [896, 40, 56, 22];
  const CHARACTER = 7.4;
  /** Lines of a type that are drawn; the table has all fields. */
  const MAX_LINES = 32;
  /** Types that are drawn at once; the others when they are opened. */
  const OPEN_TYPES = 6;
  /** A field is hot from this part of its type's misses, or accesses, on. */
  const HOT = 0.1;

  /**
   * Types in the order of the table, each with its fields.
   * @type {(table: Table<LayoutField>) => Map<string, LayoutField[]>}
   */
  const types = (table) => {
    /** @type {Map<string, LayoutField[]>} */
    const found = new Map();
    for (const field of table.objects()) {
      const fields = found.get(field.type);
      if (fields) fields.push(field);
      else found.set(field.type, [field]);
    }
    return found;
  };

  /** @type {(fields: LayoutField[]) => { of: (field: LayoutField) => number, name: string }} */
  const weightOf = (fields) => {
    const missing = fields.some((field) => (field.misses ?? 0) > 0);
    return { of: (field) => (missing ? field.misses : field.accesses) ?? 0, name: missing ? 'misses' : 'accesses' };
  };

  /**
   * The pieces of a field, one for each cache line that it touches.
   * @type {(field: LayoutField, lineBytes: number) => Piece[]}
   */
  const pieces = (field, lineBytes) => {
    const made = [];
    const end = field.offset + Math.max(field.size, 1);
    for (let at = field.offset; at < end && at / lineBytes < MAX_LINES; ) {
      const until = Math.min(end, (Math.floor(at / lineBytes) + 1) * lineBytes);
      made.push({ line: Math.floor(at / lineBytes), from: at % lineBytes, bytes: until - at });
      at = until;
    }
    return made;
  };

  /** @type {(field: LayoutField, piece: Piece, share: number, scale: number) => SVGElement} */
  const drawPiece = (field, piece, share, scale) => {
    const [x, y, width] = [LEFT + piece.from * scale, TOP + piece.line * ROW, piece.bytes * scale];
    const words = `${Texts.visible(field.field)}, offset ${field.offset}, ${field.size} bytes, ${Numbers.percent(share)}`;
    const fits = Math.floor((width - 8) / CHARACTER);
    /** @type {(text: string, dy: number, kind: string) => Child} */
    const label = (text, dy, kind) =>
      fits >= 2 ? Dom.svg('text', { x: x + 4, y: y + dy, class: kind }, Texts.shortened(text, fits)) : null;
    const box = Dom.svg('rect', { x, y: y + 2, width: Math.max(width - 1, 1), height: ROW - 6, class: 'field' });
    return Dom.svg(
      'g',
      { class: share >= HOT ? 'hot' : 'cold' },
      Dom.svg('title', {}, words),
      Dom.withVariables(box, { '--heat-part': Math.sqrt(share) }),
      label(Texts.visible(field.field), 16, 'field-name'),
      label(Numbers.percent(share), 30, 'field-share'),
    );
  };

  /** @type {(lines: number, size: number, lineBytes: number, scale: number) => Child[]} */
  const frame = (lines, size, lineBytes, scale) =>
    Array.from({ length: lines }, (_, line) => {
      const bytes = Math.min(lineBytes, size - line * lineBytes);
      const y = TOP + line * ROW;
      return [
        Dom.svg('text', { x: LEFT - 8, y: y + 23, class: 'tick end' }, String(line * lineBytes)),
        Dom.svg('rect', { x: LEFT, y: y + 2, width: bytes * scale, height: ROW - 6, class: 'hole' }),
        Dom.svg('path', { d: `M${LEFT} ${y}v${ROW - 2}M${LEFT + lineBytes * scale} ${y}v${ROW - 2}`, class: 'line-border' }),
      ];
    });

  /** @type {(lineBytes: number, scale: number) => Child[]} */
  const ruler = (lineBytes, scale) =>
    Array.from({ length: lineBytes / 8 + 1 }, (_, word) =>
      Dom.svg('text', { x: LEFT + word * 8 * scale, y: TOP - 8, class: 'tick middle' }, `+${word * 8}`),
    );

  /** @type {(name: string, fields: LayoutField[], lineBytes: number) => SVGElement} */
  const draw = (name, fields, lineBytes) => {
    const weight = weightOf(fields);
    const total = fields.reduce((sum, field) => sum + weight.of(field), 0) || 1;
    const size = Math.max(...fields.map((field) => field.offset + field.size));
    const lines = Math.min(Math.ceil(size / lineBytes), MAX_LINES);
    const scale = (WIDTH - LEFT - 12) / lineBytes;
    const label = `${name}: ${size} bytes in ${Math.ceil(size / lineBytes)} cache lines of ${lineBytes} bytes`;
    return Dom.svg(
      'svg',
      { viewBox: `0 0 ${WIDTH} ${TOP + lines * ROW}`, role: 'img', 'aria-label': label, class: 'layout' },
      ruler(lineBytes, scale),
      frame(lines, size, lineBytes, scale),
      fields.flatMap((field) =>
        pieces(field, lineBytes).map((piece) => drawPiece(field, piece, weight.of(field) / total, scale)),
      ),
    );
  };

  /** @type {(fields: LayoutField[]) => string} */
  const caption = (fields) => {
    const weight = weightOf(fields);
    const total = fields.reduce((sum, field) => sum + weight.of(field), 0) || 1;
    const hot = fields.filter((field) => weight.of(field) / total >= HOT);
    const bytes = hot.reduce((sum, field) => sum + field.size, 0);
    const size = Math.max(...fields.map((field) => field.offset + field.size));
    const share = hot.reduce((sum, field) => sum + weight.of(field), 0) / total;
    const names = hot.map((field) => Texts.visible(field.field)).join(', ') || 'no field';
    return `Hot: ${names}, ${bytes} of ${size} bytes with ${Numbers.percent(share)} of the type’s ${weight.name}.`;
  };

  /** @type {(lineBytes: number) => string} */
  const legend = (lineBytes) =>
    `Each row is a cache line of ${lineBytes} bytes, if the object begins at the border of one. Fields with a thick border are hot; ` +
    'pale bytes with a dashed border belong to no field that was accessed.';

  /** The fields with what the chosen threads did with them in the chosen time. @type {(fields: LayoutField[]) => LayoutField[]} */
  const chosen = (fields) => {
    if (Chosen.isAll() || !LayoutSums.isKnown) return fields;
    const [accesses, misses] = ['accesses', Data.page.rank_by].map((wanted) => Places.measures.findIndex(({ name }) => name === wanted));
    return fields.map((field) => {
      const sums = LayoutSums.ofMember(field.type, field.field);
      return { ...field, accesses: sums[accesses] ?? 0, misses: sums[misses] ?? 0 };
    });
  };

  /** @type {(table: Table<LayoutField>, name: string, fields: LayoutField[], lineBytes: number) => Child} */
  const figure = (table, name, all, lineBytes) => {
    const fields = chosen(all);
    if (fields.every(({ accesses }) => accesses === 0) && fields !== all) return ChosenBar.emptyNote(` to ${Texts.visible(name)}`);
    const title = Chosen.isAll() ? `${name}, fields` : ChosenTables.titled(`${name}, fields`, 'the chosen time and threads');
    const rows = fields.map((field) => table.columns.map((column) => /** @type {Cells} */ (/** @type {unknown} */ (field))[column.name] ?? null));
    const own = /** @type {Table} */ (/** @type {unknown} */ (table.withRows(rows).withTitle(title)));
    return Chart.figure(Chart.scrolled(`${name} in cache lines`, draw(name, fields, lineBytes)), caption(fields), [own]);
  };

  /** @type {(table: Table<LayoutField>, type: string, fields: LayoutField[], lineBytes: number) => HTMLElement} */
  const typeSection = (table, type, fields, lineBytes) => {
    const name = Names.short(type);
    return Dom.element(
      'section',
      { class: 'type-layout', 'aria-label': name },
      Dom.element('h3', {}, Entity.link('type', type, Names.short(name), name)),
      Chosen.redrawn(() => figure(table, name, fields, lineBytes)),
    );
  };

  /**
   * A figure for each type of the table.
   * @type {(table: Table<LayoutField>) => Child}
   */
  const create = (table) => {
    const lineBytes = Data.lineBytes();
    const sections = [...types(table)].map(([type, fields], index) => {
      const make = () => typeSection(table, type, fields, lineBytes);
      return index < OPEN_TYPES ? make() : Dom.details(Names.short(type), make);
    });
    return sections.length > 0 ? [Dom.element('p', {}, legend(lineBytes)), sections] : null;
  };

  /** What it shows of the chosen time and threads. */
  const remark = () => {
    if (!LayoutSums.isKnown) return 'This part shows the whole trace, whatever time and threads are chosen.';
    const lack = LayoutSums.isCut ? ' They lack the least accessed places.' : '';
    return `Accesses and misses of structures and members are of the chosen time and threads.${lack} Affinity and proposals are of the whole trace.`;
  };

  return { COLUMNS, create, remark };
})();
