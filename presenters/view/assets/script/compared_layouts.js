/** The members of structures in two traces: what each of them misses, and where it lies. */
const ComparedLayouts = (() => {
  /** @typedef {{ type: string, name: string, first?: LayoutField, second?: LayoutField }} Member */

  /** Types that are drawn. */
  const MOST_TYPES = 6;

  /** @type {(part: Part) => LayoutField[]} */
  const fieldsOf = ({ tables }) => {
    const table = tables.find((candidate) => candidate.has(...LayoutChart.COLUMNS));
    return /** @type {LayoutField[]} */ (/** @type {unknown} */ (table?.objects() ?? []));
  };

  /** @type {(first: LayoutField[], second: LayoutField[]) => Member[]} */
  const joined = (first, second) => {
    /** @type {Map<string, Member>} */
    const members = new Map();
    /** @type {(fields: LayoutField[], trace: 'first' | 'second') => void} */
    const add = (fields, trace) => {
      for (const field of fields) {
        const key = `${field.type} ${field.field}`;
        members.set(key, { type: field.type, name: field.field, ...members.get(key), [trace]: field });
      }
    };
    add(first, 'first');
    add(second, 'second');
    return [...members.values()];
  };

  /** Misses or, if none were simulated, accesses. */
  class Weights {
    /** @param {Member[]} members */
    constructor(members) {
      const fields = members.flatMap(({ first, second }) => [first, second]);
      this.hasMisses = fields.some((field) => (field?.misses ?? 0) > 0);
      this.title = this.hasMisses ? Data.page.rank_by.replace('_', ' ').replace(/^l/, 'L') : 'accesses';
    }

    /** @param {LayoutField | undefined} field */
    of(field) {
      return (this.hasMisses ? field?.misses : field?.accesses) ?? 0;
    }

    /** @param {Member} member */
    change({ first, second }) {
      return this.of(second) - this.of(first);
    }
  }

  /** @type {(members: Member[], weights: Weights) => HTMLElement} */
  const table = (members, weights) => {
    const sorted = [...members].sort((one, other) => Math.abs(weights.change(other)) - Math.abs(weights.change(one)));
    const rows = sorted.map((member) => {
      const { type, name, first, second } = member;
      const state = first ? (second ? '' : 'gone') : 'new';
      return [`${type}.${name}`, weights.of(first), weights.of(second), weights.change(member), first?.offset ?? null, second?.offset ?? null, state];
    });
    return TableView.create(
      new Data.Table({
        name: 'compared_members',
        title: `Members of structures, by change of ${weights.title}`,
        layout: 'rows',
        columns: [
          { name: 'field', title: 'member', unit: 'text' },
          { name: 'before', title: 'before', unit: 'count' },
          { name: 'after', title: 'after', unit: 'count' },
          { name: 'change', title: 'change', unit: 'change' },
          { name: 'old_offset', title: 'offset before', unit: 'number' },
          { name: 'offset', title: 'offset after', unit: 'number' },
          { name: 'state', title: 'state', unit: 'text' },
        ],
        rows,
        row_count: rows.length,
      }),
    );
  };

  /** @type {(trace: string, fields: LayoutField[], weights: Weights, most: number) => Child} */
  const drawing = (trace, fields, weights, most) => {
    if (fields.length === 0) return Dom.element('p', { class: 'status' }, `${trace}: not among the structures that are shown.`);
    const size = Math.max(...fields.map(({ offset, size: bytes }) => offset + bytes));
    const members = fields.map(({ field, offset, size: bytes }) => ({ name: field, offset, size: bytes }));
    const heat = new Map(fields.map((field) => [field.field, weights.of(field) / most]));
    return Cards.drawing(`${trace}: ${size} bytes in use, ${Numbers.short(fields.reduce((sum, field) => sum + weights.of(field), 0))} ${weights.title}`, members, size, heat);
  };

  /** @type {(type: string, members: Member[], weights: Weights) => HTMLElement} */
  const figure = (type, members, weights) => {
    const [first, second] = [members.flatMap((member) => member.first ?? []), members.flatMap((member) => member.second ?? [])];
    /** @type {(fields: LayoutField[]) => number} */
    const total = (fields) => fields.reduce((sum, field) => sum + weights.of(field), 0);
    const most = Math.max(total(first), total(second), 1);
    return Dom.element(
      'figure',
      { class: 'before-after' },
      Dom.element('h4', {}, Entity.link('type', type, Names.short(type))),
      Dom.element('div', {}, drawing('first', first, weights, most), drawing('second', second, weights, most)),
    );
  };

  /** Types whose members changed, those that changed most first. @type {(members: Member[], weights: Weights) => Child[]} */
  const figures = (members, weights) => {
    const types = [...Data.grouped(members, ({ type }) => type)].map(([type, own]) => {
      const isMoved = own.some(({ first, second }) => first?.offset !== second?.offset || first?.size !== second?.size);
      return { type, own, isMoved, change: own.reduce((sum, member) => sum + Math.abs(weights.change(member)), 0) };
    });
    const changed = types.filter(({ change, isMoved }) => change > 0 || isMoved).sort((one, other) => other.change - one.change);
    return changed.slice(0, MOST_TYPES).map(({ type, own }) => figure(type, own, weights));
  };

  /** None without structures. */
  const create = () => {
    const pair = Comparison.pair('layout');
    if (!pair) return null;
    const members = joined(fieldsOf(pair[0]), fieldsOf(pair[1]));
    if (members.length === 0) return null;
    const weights = new Weights(members);
    const drawn = figures(members, weights);
    const legend = `Rows are cache lines of ${Data.lineBytes()} bytes. Both drawings of a structure have one scale: the darker a member, the more ${weights.title} it has.`;
    return [table(members, weights), drawn.length > 0 ? Dom.element('p', {}, legend) : null, drawn];
  };

  return { create };
})();
