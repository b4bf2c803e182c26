/**
 * Addresses from bottom to top without the gaps between them that would take most of the room.
 *
 * What remains are stretches. Each is as high as it is long, but never too low to be seen.
 */
const FoldedAddresses = (() => {
  /** A gap is folded if it takes more than this part of what is left of the addresses. */
  const LARGE_GAP = 0.04;
  const LEAST_GAP_BYTES = 65536;
  const MOST_STRETCHES = 14;
  /** Pixels. */
  const [LOWEST, FOLD] = [14, 10];

  /**
   * By process, then by address.
   * @type {(a: Address, b: Address) => number}
   */
  const compare = (a, b) => a.process - b.process || a.from - b.from;

  /**
   * Stretches without gaps, in order; places that overlap or touch are one.
   * @type {(places: AddressRange[]) => AddressRange[]}
   */
  const joined = (places) => {
    /** @type {AddressRange[]} */
    const made = [];
    for (const { process, from, to } of [...places].sort(compare)) {
      const last = made.at(-1);
      if (last && last.process === process && from <= last.to) last.to = Math.max(last.to, to);
      else made.push({ process, from, to });
    }
    return made;
  };

  /**
   * Before which of them gaps are folded: before each process's first one, and the largest gaps.
   * @type {(parts: AddressRange[]) => Set<number>}
   */
  const folds = (parts) => {
    /** @type {(at: number) => boolean} */
    const isFirst = (at) => at === 0 || parts[at].process !== parts[at - 1].process;
    const gaps = parts.flatMap((part, at) => (isFirst(at) ? [] : [{ at, bytes: part.from - parts[at - 1].to }]));
    gaps.sort((a, b) => b.bytes - a.bytes);
    const made = new Set(parts.flatMap((_, at) => (isFirst(at) ? [at] : [])));
    let left = parts.reduce((sum, part) => sum + part.to - part.from, 0) + gaps.reduce((sum, gap) => sum + gap.bytes, 0);
    for (const { at, bytes } of gaps) {
      if (made.size >= MOST_STRETCHES || bytes < LEAST_GAP_BYTES || bytes <= left * LARGE_GAP) break;
      made.add(at);
      left -= bytes;
    }
    return made;
  };

  /** @type {(places: AddressRange[]) => AddressRange[]} */
  const stretchesOf = (places) => {
    const parts = joined(places);
    const isFolded = folds(parts);
    /** @type {AddressRange[]} */
    const made = [];
    parts.forEach((part, at) => {
      const last = made.at(-1);
      if (isFolded.has(at) || !last) made.push({ ...part });
      else last.to = part.to;
    });
    return made;
  };

  /**
   * Gives each stretch `top` and `height`, the highest address on top.
   * @type {(stretches: AddressRange[], height: number) => FoldedStretch[]}
   */
  const place = (stretches, height) => {
    const room = Math.max(height - FOLD * (stretches.length - 1) - LOWEST * stretches.length, 0);
    const bytes = stretches.reduce((sum, { from, to }) => sum + to - from, 0) || 1;
    let bottom = height;
    return stretches.map((stretch) => {
      const high = LOWEST + ((stretch.to - stretch.from) / bytes) * room;
      const top = bottom - high;
      bottom = top - FOLD;
      return { ...stretch, top, height: high };
    });
  };

  class Folded {
    /**
     * @param {AddressRange[]} places
     * @param {number} height
     */
    constructor(places, height) {
      this.stretches = place(stretchesOf(places), height);
    }

    /**
     * @param {number} process
     * @param {number} address
     */
    stretchOf(process, address) {
      let [low, high] = [0, this.stretches.length - 1];
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        const { process: other, from } = this.stretches[middle];
        if (other < process || (other === process && from <= address)) low = middle;
        else high = middle - 1;
      }
      return this.stretches[low];
    }

    /**
     * Distance from the top of the first byte past a place, and its height; both in pixels.
     * @param {AddressRange} place
     */
    box({ process, from, to }) {
      const stretch = this.stretchOf(process, from);
      const scale = stretch.height / (stretch.to - stretch.from || 1);
      return { top: stretch.top + (stretch.to - to) * scale, height: (to - from) * scale };
    }

    /**
     * What lies at that height; in a fold, the lowest address of the stretch above it.
     * @param {number} y
     */
    at(y) {
      const stretch = this.stretches.find(({ top }) => top <= y) ?? this.stretches[this.stretches.length - 1];
      const part = Chart.clamp((stretch.top + stretch.height - y) / stretch.height, 0, 1);
      return { process: stretch.process, address: stretch.from + part * (stretch.to - stretch.from) };
    }
  }

  /**
   * `places`: [{ process, from, to }], at least one.
   * @type {(places: AddressRange[], height: number) => Folded}
   */
  const create = (places, height) => new Folded(places, height);

  return { create, compare };
})();
