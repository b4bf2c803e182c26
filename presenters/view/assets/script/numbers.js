/** Numbers for people, as `trackway report` writes them. */
const Numbers = (() => {
  const UNITS = [' B', ' KiB', ' MiB', ' GiB', ' TiB', ' PiB', ' EiB'];

  /** @type {(number: number) => string} */
  const grouped = (number) => String(number).replace(/\B(?=(\d{3})+(?!\d))/g, ',');

  /**
   * Never rounded to a false 0 or 100.
   * @type {(share: number) => string}
   */
  const percent = (share) => {
    const perCent = share * 100;
    if (perCent > 0 && perCent < 0.05) return '<0.1 %';
    if (perCent >= 99.95 && perCent < 100) return '>99.9 %';
    return `${perCent.toFixed(1)} %`;
  };

  /**
   * 1,234 stays; more gets three digits and a unit.
   * @type {(number: number) => string}
   */
  const short = (number) => {
    /** @type {[number, string, number?][]} */
    const steps = [[1e12, ' T'], [1e9, ' G'], [1e6, ' M'], [1e4, ' k', 1e3]];
    for (const [limit, unit, divisor = limit] of steps) {
      if (number >= limit) return `${(number / divisor).toPrecision(3)}${unit}`.replace(/(\d{4,})\.\d*/, '$1');
    }
    return grouped(Number.isInteger(number) ? number : Number(number.toPrecision(3)));
  };

  /**
   * Bytes in binary units.
   * @type {(number: number) => string}
   */
  const bytes = (number) => {
    let unit = 0;
    let value = number;
    while (value >= 1024 && unit + 1 < UNITS.length) {
      value /= 1024;
      unit += 1;
    }
    const digits = value >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toPrecision(3);
    return digits + UNITS[unit];
  };

  /**
   * +5, −5 or 0.
   * @type {(change: number, text: (size: number) => string) => string}
   */
  const signed = (change, text) => (change > 0 ? '+' : change < 0 ? '−' : '') + text(Math.abs(change));

  /** "1 thread", "2 threads". @type {(number: number, word: string) => string} */
  const counted = (number, word) => `${grouped(number)} ${word}${number === 1 ? '' : 's'}`;

  /** Words in the plural, in the singular of one: "1 L2 miss". @type {(number: number, words: string) => string} */
  const wordsOf = (number, words) => (number === 1 ? words.replace(/(ss)es$|s$/, '$1') : words);

  /** @type {(nanoseconds: number) => string} */
  const duration = (nanoseconds) => {
    /** @type {[number, string][]} */
    const steps = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs']];
    for (const [limit, unit] of steps) {
      if (nanoseconds >= limit) return `${Number((nanoseconds / limit).toPrecision(4))} ${unit}`;
    }
    return `${Math.round(nanoseconds)} ns`;
  };

  /** @type {(number: number) => string} */
  const hexadecimal = (number) => `0x${number.toString(16)}`;

  /**
   * A cell of a column of that unit.
   * @type {(value: Cell | undefined, unit: Unit) => string}
   */
  const cell = (value, unit) => {
    const isText = unit === 'text' || unit === 'path' || unit === 'source';
    if (value === null || value === undefined) return isText ? '' : '–';
    if (isText || typeof value === 'string') return Texts.visible(value).trim();
    switch (unit) {
      case 'count':
      case 'bytes':
        return Number.isInteger(value) ? grouped(value) : short(value);
      case 'change':
        return Number.isInteger(value) ? signed(value, grouped) : signed(value, (size) => size.toFixed(3));
      case 'share':
        return percent(value);
      case 'rate':
        return value.toFixed(1).replace(/^\d+/, (whole) => grouped(Number(whole)));
      case 'duration':
        return duration(value);
      case 'ratio':
        return `×${value.toFixed(2)}`;
      default:
        return Number.isInteger(value) ? String(value) : Texts.visible(value);
    }
  };

  return { grouped, counted, wordsOf, percent, short, bytes, duration, hexadecimal, cell };
})();
