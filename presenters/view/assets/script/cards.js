/** What to change: a card for each change, with its gain, its line of source, and the layout before and after. */
const Cards = (() => {
  /** @typedef {(typeof Places.all)[number]} Place */
  /** @typedef {{ card: number, member: string, size: number, old_offset: number, part: number, offset: number, part_size: number }} Move */

  const [WIDTH, ROW, LEFT, TOP] = [440, 26, 44, 18];
  const CHARACTER = 6.6;
  /** Lines of cache that a drawing shows of an object. */
  const MAX_LINES = 8;

  const part = Data.part('advice');

  /** Misses of each member of a type, as far as the page draws the type. @type {(type: string) => Map<string, number>} */
  const weights = (type) => {
    const table = /** @type {Table<LayoutField> | undefined} */ (
      /** @type {unknown} */ (Data.part('layout')?.tables.find((candidate) => candidate.has(...LayoutChart.COLUMNS)))
    );
    const fields = (table?.objects() ?? []).filter((field) => field.type === type);
    const hasMisses = fields.some(({ misses }) => (misses ?? 0) > 0);
    const total = fields.reduce((sum, field) => sum + ((hasMisses ? field.misses : field.accesses) ?? 0), 0) || 1;
    return new Map(fields.map((field) => [field.field, ((hasMisses ? field.misses : field.accesses) ?? 0) / total]));
  };

  /**
   * Members to scale in their cache lines.
   * @type {(label: string, members: { name: string, offset: number, size: number }[], size: number, heat: Map<string, number>) => SVGElement}
   */
  const drawing = (label, members, size, heat) => {
    const lineBytes = Data.lineBytes();
    const lines = Chart.clamp(Math.ceil(size / lineBytes), 1, MAX_LINES);
    const scale = (WIDTH - LEFT - 8) / lineBytes;
    const boxes = members.flatMap(({ name, offset, size: bytes }) => {
      const made = [];
      for (let at = offset; at < offset + bytes && at < lines * lineBytes; ) {
        const line = Math.floor(at / lineBytes);
        const until = Math.min(offset + bytes, (line + 1) * lineBytes);
        const width = (until - at) * scale;
        const share = heat.get(name) ?? 0;
        const fits = Math.floor((width - 4) / CHARACTER);
        const box = Dom.svg('rect', { x: LEFT + (at % lineBytes) * scale, y: TOP + line * ROW + 2, width: Math.max(width - 1, 1), height: ROW - 5, class: 'field' });
        made.push(
          Dom.svg(
            'g',
            { class: share >= 0.1 ? 'hot' : 'cold' },
            Dom.svg('title', {}, `${Texts.visible(name)}, offset ${offset}, ${bytes} bytes, ${Numbers.percent(share)}`),
            Dom.withVariables(box, { '--heat-part': Math.sqrt(share) }),
            fits >= 2 ? Dom.svg('text', { x: LEFT + (at % lineBytes) * scale + 3, y: TOP + line * ROW + 16, class: 'field-name' }, Texts.shortened(Texts.visible(name), fits)) : null,
          ),
        );
        at = until;
      }
      return made;
    });
    const frame = Array.from({ length: lines }, (_, line) => [
      Dom.svg('text', { x: LEFT - 6, y: TOP + line * ROW + 16, class: 'tick end' }, `+${line * lineBytes}`),
      Dom.svg('rect', { x: LEFT, y: TOP + line * ROW + 2, width: Math.max(1, Math.min(lineBytes, size - line * lineBytes)) * scale, height: ROW - 5, class: 'hole' }),
    ]);
    return Dom.svg(
      'svg',
      { viewBox: `0 0 ${WIDTH} ${TOP + lines * ROW}`, role: 'img', 'aria-label': `${label}: ${members.map(({ name }) => Texts.visible(name)).join(', ')}` },
      Dom.svg('text', { x: LEFT, y: 12, class: 'tick' }, label),
      frame,
      boxes,
    );
  };

  /** @type {(type: string, moves: Move[]) => Child} */
  const layouts = (type, moves) => {
    if (moves.length === 0) return null;
    const heat = weights(type);
    const oldSize = Math.max(...moves.map(({ old_offset: offset, size }) => offset + size));
    const before = moves.map(({ member, old_offset: offset, size }) => ({ name: member, offset, size }));
    const parts = [...new Set(moves.map(({ part: number }) => number))].sort((a, b) => a - b).slice(0, 6);
    const after = parts.map((number) => {
      const own = moves.filter((move) => move.part === number);
      const members = own.map(({ member, offset, size }) => ({ name: member, offset, size }));
      const name = parts.length > 1 ? `after, part ${number + 1}: ${own[0].part_size} bytes each` : `after: ${own[0].part_size} bytes each`;
      return drawing(name, members, own[0].part_size, heat);
    });
    return Dom.element(
      'figure',
      { class: 'before-after' },
      Dom.element('div', {}, drawing(`before: ${oldSize} bytes each`, before, oldSize, heat), Dom.element('div', {}, after)),
      Dom.element('figcaption', {}, `Rows are cache lines of ${Data.lineBytes()} bytes; the darker, the more of the type’s misses. Thick borders: a tenth of them or more.`),
    );
  };

  /** `file:line` of a card, whose path is only known by its last part. @type {(place: string) => Child} */
  const quote = (place) => {
    const found = /^(.*):(\d+)$/.exec(place);
    if (!found) return null;
    const file = [...Data.sources.keys()].find((path) => Texts.fileName(path) === found[1]);
    const text = file === undefined ? undefined : Data.sourceLine(file, Number(found[2]));
    if (file === undefined || text === undefined) return Dom.element('p', {}, `Costs most at ${Texts.visible(place)}.`);
    return Dom.element('p', { class: 'quote' }, SourceView.link(file, Number(found[2]), Texts.visible(place)), Dom.element('code', {}, Texts.visibleSource(text).trim()));
  };

  /** @type {(title: string, text: Cell | undefined) => Child[]} */
  const entry = (title, text) =>
    text ? [Dom.element('dt', {}, title), Dom.element('dd', {}, Texts.visible(text))] : [];

  /** What a change is about, by the names of places; null if they don't know it. @type {(of: string) => { key: string, name: string } | null} */
  const subjectOf = (of) => {
    const names = ['', 'struct ', 'class '].flatMap((word) => ['field', 'type', 'variable', 'function'].map((key) => ({ key, name: word + of })));
    return names.find(({ key, name }) => Places.has(key, name)) ?? null;
  };

  /** The places that a change is about: those of its subject, or those of its line. @type {(of: string, line: string) => Place[]} */
  const placesOf = (of, line) => {
    const subject = subjectOf(of);
    if (subject && Places.isKey(subject.key)) return Places.by(subject.key).get(subject.name) ?? [];
    const onLine = [...Places.by('line')].filter(([name]) => name === line || name.endsWith(`/${line}`));
    return onLine.flatMap(([, places]) => places);
  };

  /** How much of what the change is about is chosen, in words. @type {(places: Place[]) => string} */
  const chosenShare = (places) => {
    const whole = places.reduce((sum, { counts }) => sum + counts[Places.ranking], 0);
    const position = whole > 0 ? Places.ranking : 0;
    const { title } = Places.measures[position] ?? { title: 'accesses' };
    const all = places.reduce((sum, { counts }) => sum + counts[position], 0);
    if (all === 0) return 'The page doesn’t know how much of what it is about lies in the chosen time and threads.';
    const own = Places.sum(places)[position];
    return `${Numbers.percent(own / all)} of its ${title} lie in the chosen time and threads: ${Numbers.grouped(own)} of ${Numbers.grouped(all)}.`;
  };

  /** While something is chosen. @type {(places: Place[], looked: Cell) => HTMLElement} */
  const chosenNote = (places, looked) =>
    Chosen.redrawn(() => (Chosen.isAll() ? null : Dom.element('p', { class: 'whole-note' }, `${chosenShare(places)} The gain is not of this choice: it is simulated for ${Texts.visible(looked ?? 'the whole run')}.`)));

  /** @type {(row: Cells, detail: Cells, definition: Table | null, moves: Move[], looked: Cell) => HTMLElement} */
  const card = (row, detail, definition, moves, looked) => {
    const of = String(row.of ?? '');
    const line = String(detail.place ?? row.place ?? '');
    const found = subjectOf(of);
    const subject = found && found.key !== 'function' ? Entity.link(found.key, found.name, Names.short(of)) : Names.code(of);
    const change = Texts.visible(row.change);
    return Dom.element(
      'li',
      {},
      Dom.element(
        'div',
        { class: 'share' },
        Dom.element('strong', {}, Numbers.percent(Number(row.saves ?? 0))),
        Dom.withVariables(Dom.element('span', { class: 'bar', 'aria-hidden': 'true' }), { '--part': Number(row.saves ?? 0) }),
        Dom.element('span', { class: 'kind' }, 'of the estimated time'),
      ),
      Dom.element(
        'div',
        {},
        Dom.element('h3', {}, `${change.slice(0, 1).toUpperCase()}${change.slice(1)} of `, subject),
        Dom.element('p', {}, Texts.visible(detail.because)),
        chosenNote(placesOf(of, line), looked),
        quote(line),
        layouts(of, moves),
        Dom.element('dl', { class: 'card-notes' }, entry('gets worse', detail.worse), entry('wrong if', detail.unless), [
          Dom.element('dt', {}, 'next'),
          Dom.element('dd', {}, Dom.element('code', {}, Texts.visible(detail.next))),
        ]),
        definition?.rows.some(([line]) => line !== null)
          ? Dom.details('The lines to write', () => Dom.element('pre', { class: 'code', tabindex: '0', role: 'region', 'aria-label': `Lines to write for ${Texts.visible(of)}` }, definition.rows.map(([line]) => Texts.visibleSource(line)).join('\n')))
          : null,
      ),
    );
  };

  /** None if no changes were looked for. */
  const create = () => {
    if (!part) return null;
    const rows = part.tables.find(({ name }) => name === 'cards')?.objects() ?? [];
    const moves = /** @type {Move[]} */ (/** @type {unknown} */ (part.tables.find(({ name }) => name === 'card_moves')?.objects() ?? []));
    /** @type {{ detail: Cells, definition: Table | null }[]} */
    const details = [];
    for (const table of part.tables) {
      if (table.name === 'card') details.push({ detail: table.record(), definition: null });
      else if (table.name === 'definition' && details.length > 0) details[details.length - 1].definition = table;
    }
    const dropped = part.tables.find(({ name }) => name === 'not_advised');
    const looked = part.tables.find(({ name }) => name === 'looked_at')?.record().part;
    return [
      Dom.element('p', { class: 'answer' }, Names.sentence(part.answer)),
      looked ? Dom.element('p', { class: 'status' }, `Looked at: ${Texts.visible(looked)}. Gains are simulated, each for its change alone; they don’t add up.`) : null,
      rows.length > 0
        ? Dom.element(
            'ol',
            { class: 'suspects cards' },
            rows.map((row, index) =>
              card(row, details[index]?.detail ?? {}, details[index]?.definition ?? null, moves.filter((move) => move.card === index + 1), looked ?? null),
            ),
          )
        : null,
      dropped && dropped.rows.length > 0 ? Dom.details(`Looked at, and not advised (${dropped.rows.length})`, () => TableView.create(dropped)) : null,
    ];
  };

  return { create, drawing };
})();
