/**
 * Miss-ratio curves: the share of misses that a cache of each size would have.
 *
 * Tables: columns `group`, one curve for each, `size_bytes` and `miss_ratio`.
 */
const CurveChart = (() => {
  /** @typedef {{ size_bytes: number, miss_ratio: number }} Point */
  /** @typedef {{ name: string, points: Point[], style: string, shown: boolean, chosen?: boolean }} Curve */
  /** @typedef {ReturnType<typeof scales>} Scale */

  const COLUMNS = ['group', 'size_bytes', 'miss_ratio'];
  const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [896, 360, 76, 190, 22, 50];
  const LABEL_HEIGHT = 15;
  const LABEL_LENGTH = 25;
  /** Curves that are drawn at first; the others wait behind their checkboxes. */
  const FIRST_CURVES = 5;
  /** The same where two traces are compared: all accesses of both. */
  const FIRST_PAIRED = 2;
  const MAX_CURVES = 24;
  const STYLES = 8;

  /**
   * Where curves of two traces stand by turns, those of a pair have one colour, and the first trace's are dashed.
   * @type {(index: number, isPaired: boolean) => string}
   */
  const styleOf = (index, isPaired) =>
    isPaired ? `curve-${Math.floor(index / 2) % STYLES} ${index % 2 === 0 ? 'earlier' : 'later'}` : `curve-${index % STYLES}`;

  /** @type {(table: Table<CurvePoint>, isPaired: boolean) => Curve[]} */
  const curves = (table, isPaired) => {
    /** @type {Map<string, Point[]>} */
    const found = new Map();
    for (const { group, size_bytes, miss_ratio } of table.objects()) {
      if (!(size_bytes > 0) || miss_ratio === null) continue;
      const name = Texts.visible(group);
      const points = found.get(name) ?? [];
      if (points.push({ size_bytes, miss_ratio }) === 1) found.set(name, points);
    }
    const made = [...found].slice(0, MAX_CURVES).map(([name, points], index) => ({
      name,
      points: points.sort((a, b) => a.size_bytes - b.size_bytes),
      style: styleOf(index, isPaired),
      shown: index < (isPaired ? FIRST_PAIRED : FIRST_CURVES),
    }));
    return made;
  };

  /**
   * Positions of sizes, on a scale of powers of two, and of ratios.
   * @param {Curve[]} all
   */
  const scales = (all) => {
    const sizes = all.flatMap((curve) => curve.points.map((point) => Math.log2(point.size_bytes)));
    const [first, last] = [Math.floor(Math.min(...sizes)), Math.ceil(Math.max(...sizes))];
    const highest = Math.max(0.01, ...all.flatMap((curve) => curve.points.map((point) => point.miss_ratio)));
    const span = Math.max(last - first, 1);
    return {
      first,
      last,
      highest,
      /** @param {number} size */
      x: (size) => LEFT + ((Math.log2(size) - first) / span) * (WIDTH - LEFT - RIGHT),
      /** @param {number} ratio */
      y: (ratio) => HEIGHT - BOTTOM - (ratio / highest) * (HEIGHT - TOP - BOTTOM),
    };
  };

  /** @type {(scale: Scale) => Child[]} */
  const axes = ({ first, last, highest, x, y }) => {
    const step = Math.ceil((last - first) / 10) || 1;
    const sizes = [];
    for (let power = first; power <= last; power += step) sizes.push(2 ** power);
    return [
      Chart.ticks(0, highest, 5).map((ratio) => [
        Dom.svg('path', { d: `M${LEFT} ${y(ratio)}H${WIDTH - RIGHT}`, class: 'grid' }),
        Dom.svg('text', { x: LEFT - 8, y: y(ratio) + 4, class: 'tick end' }, `${Number((ratio * 100).toPrecision(3))} %`),
      ]),
      sizes.map((size) => Dom.svg('text', { x: x(size), y: HEIGHT - BOTTOM + 16, class: 'tick middle' }, Numbers.bytes(size))),
      Chart.axisTitles([
        ['size of the cache, bytes', (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8],
        ['miss ratio, misses ÷ accesses', 14, (TOP + HEIGHT - BOTTOM) / 2, true],
      ]),
    ];
  };

  /**
   * The caches of the model stand where their sizes are.
   * @type {(scale: Scale) => Child[]}
   */
  const levels = ({ first, last, x }) => {
    const table = Data.table('misses', 'caches');
    const inside = (table?.objects() ?? []).filter(({ size_bytes: size }) => size >= 2 ** first && size <= 2 ** last);
    return inside.map(({ level, size_bytes: size }) => [
      Dom.svg('path', { d: `M${x(size)} ${TOP}V${HEIGHT - BOTTOM}`, class: 'level' }),
      Dom.svg('text', { x: x(size), y: TOP - 8, class: 'tick middle' }, `L${level}`),
    ]);
  };

  /**
   * Names at the ends of curves, moved apart.
   * @type {(shown: Curve[], scale: Scale) => Child[]}
   */
  const labels = (shown, { y }) => {
    const ends = shown.map((curve) => ({ curve, at: y(curve.points[curve.points.length - 1].miss_ratio) })).sort((a, b) => a.at - b.at);
    // Curves often end together: labels go up from the axis, below which are its sizes, as far as there are others below them.
    const places = ends.map(({ at }) => at + 4);
    const step = Math.min(LABEL_HEIGHT, (HEIGHT - BOTTOM - TOP) / Math.max(ends.length, 1));
    const names = Names.distinct(shown.map(({ name }) => name), LABEL_LENGTH);
    let highest = HEIGHT - BOTTOM - 2;
    for (let index = places.length - 1; index >= 0; index -= 1) {
      places[index] = Math.min(places[index], highest);
      highest = places[index] - step;
    }
    return ends.map(({ curve, at }, index) => [
      Dom.svg('path', { d: `M${WIDTH - RIGHT} ${at}L${WIDTH - RIGHT + 10} ${places[index] - 4}`, class: `leader ${curve.style}` }),
      Dom.svg('text', { x: WIDTH - RIGHT + 14, y: places[index], class: `curve-label ${curve.style}` }, names.get(curve.name)),
    ]);
  };

  /** @type {(curve: Curve, scale: Scale) => SVGElement} */
  const path = (curve, { x, y }) => {
    const points = curve.points.map((point) => `${x(point.size_bytes).toFixed(1)} ${y(point.miss_ratio).toFixed(1)}`);
    return Dom.svg('path', { d: `M${points.join('L')}`, class: `curve ${curve.style}` }, Dom.svg('title', {}, curve.name));
  };

  /** @type {(all: Curve[]) => SVGElement} */
  const draw = (all) => {
    const shown = all.filter((curve) => curve.shown);
    const scale = scales(all);
    const label = `Miss ratio by cache size, of ${shown.map((curve) => curve.name).join(', ')}`;
    return Dom.svg(
      'svg',
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label, class: 'curves' },
      axes(scale),
      levels(scale),
      shown.map((curve) => path(curve, scale)),
      labels(shown, scale),
    );
  };

  /** @type {(all: Curve[], redraw: () => void) => HTMLElement} */
  const choices = (all, redraw) =>
    Dom.element(
      'fieldset',
      { class: 'choices' },
      Dom.element('legend', {}, 'Curves'),
      all.map((curve) => {
        const box = Dom.element('input', { type: 'checkbox' });
        box.checked = curve.shown;
        box.addEventListener('change', () => {
          curve.shown = box.checked;
          redraw();
        });
        return Dom.element('label', {}, box, Names.short(curve.name));
      }),
    );

  /**
   * A figure; none without a point.
   * @type {(table: Table<CurvePoint>) => Child}
   */
  const create = (table) => {
    const whole = curves(table, false);
    return whole.length > 0 ? Chosen.redrawn(() => ofChoice(table, whole)) : null;
  };

  /** The curves; while something is chosen, those of the choice. @type {(table: Table<CurvePoint>, whole: Curve[]) => Child} */
  const ofChoice = (table, whole) => {
    if (Chosen.isAll()) return figure(table, whole, [table]);
    const all = chosenCurve(CHOSEN, ChosenDistances.all());
    const [wholeOfAll, ...wholeOfFields] = whole;
    const fields = wholeOfFields.flatMap((field) => ofChosenField(field));
    const shown = styled([...all, asWhole(wholeOfAll), ...fields]);
    return [
      all.length === 0 && ChosenDistances.all() ? ChosenBar.emptyNote() : null,
      figure(table, shown, [...chosenTables(table, shown), table.withTitle(`${table.title}, of the whole trace`)]),
    ];
  };

  /**
   * The curve of a field, beside that of all accesses; while something is chosen, that of the choice, too.
   * @type {(table: Table<CurvePoint>, name: string) => Child}
   */
  const createOfField = (table, name) => {
    const whole = curves(table, false);
    if (Chosen.isAll()) return figure(table, whole, [table]);
    const chosen = chosenCurve(`${Texts.visible(name)}, ${CHOSEN}`, ChosenDistances.ofField(Texts.visible(name)));
    const shown = styled([...chosen, ...whole.map(asWhole)]);
    return figure(table, shown, [...chosenTables(table, shown), table.withTitle(`${table.title}, of the whole trace`)]);
  };

  /** @type {(table: Table<CurvePoint>, all: Curve[], tables: Table<CurvePoint>[]) => HTMLElement} */
  const figure = (table, all, tables) => {
    const drawing = Chart.scrolled(table.title);
    const redraw = () => drawing.replaceChildren(draw(all));
    redraw();
    const caption = 'Share of accesses that miss in a cache of each size; vertical lines are the levels of the cache model.';
    const content = all.length > 1 ? [drawing, choices(all, redraw)] : [drawing];
    return Chart.figure(Dom.element('div', {}, content), caption, /** @type {Table[]} */ (/** @type {unknown} */ (tables)));
  };

  const CHOSEN = 'chosen time and threads';

  /** @type {(curve: Curve) => Curve} */
  const asWhole = (curve) => ({ ...curve, name: `${curve.name}, whole trace` });

  /** Curves in their order, of which the first ones are shown. @type {(all: Curve[]) => Curve[]} */
  const styled = (all) => all.slice(0, MAX_CURVES).map((curve, index) => ({ ...curve, style: styleOf(index, false), shown: index < FIRST_CURVES }));

  /** None if that isn't known, or holds nothing. @type {(name: string, found: ReturnType<typeof ChosenDistances.all>) => Curve[]} */
  const chosenCurve = (name, found) => (found && found.references > 0 ? [{ name, points: ChosenDistances.curve(found), style: '', shown: true, chosen: true }] : []);

  /** Its curve in the choice, if it has references there; that of the whole trace if that isn't known. @type {(whole: Curve) => Curve[]} */
  const ofChosenField = (whole) => {
    const found = ChosenDistances.ofField(whole.name);
    return found ? chosenCurve(whole.name, found) : [asWhole(whole)];
  };

  /** The curves of the choice. @type {(table: Table<CurvePoint>, all: Curve[]) => Table<CurvePoint>[]} */
  const chosenTables = (table, all) => {
    const rows = all.filter(({ chosen }) => chosen).flatMap(({ name, points }) => points.map(({ size_bytes: size, miss_ratio: ratio }) => [name, size, ratio]));
    return rows.length > 0 ? [table.withRows(rows).withTitle(ChosenTables.titled(table.title, CHOSEN_TITLE))] : [];
  };

  const CHOSEN_TITLE = `the ${CHOSEN}`;

  /** What it shows of the chosen time and threads. */
  const remark = () => {
    const moments = Data.table('reuse', 'reuse_moments');
    if (!moments) return 'This part shows the whole trace, whatever time and threads are chosen.';
    const lack = ChosenSums.isCut(moments) ? ' The curve of all accesses lacks the threads and times with the fewest.' : '';
    return `Curves and fields are of the chosen time and threads. ${ChosenDistances.remark()}${lack} What a thread accessed before that time counts as seen; a slice begins with nothing. Other tables are of the whole trace.`;
  };

  /** The same of the curve of one field. @type {(name: string) => string} */
  const fieldRemark = (name) => {
    if (!ChosenDistances.ofField(Texts.visible(name))) return 'The curves are of the whole trace: the page has no times of this field.';
    return 'The curve of the chosen time and threads is summed anew, at powers of two. What a thread accessed before that time counts as seen; a slice begins with nothing.';
  };

  /** Curves of two traces by turns, one of each for every group. @type {(table: Table<CurvePoint>) => Child} */
  const createPaired = (table) => {
    const all = curves(table, true);
    return all.length > 0 ? figure(table, all, [table]) : null;
  };

  return { COLUMNS, create, createPaired, createOfField, remark, fieldRemark };
})();
