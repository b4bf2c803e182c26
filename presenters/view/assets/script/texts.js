/** Texts of a trace may come from anywhere: what can't be seen, or turns other text around, is shown as a mark. */
const Texts = (() => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
  const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

  /**
   * For a name, in one line.
   * @type {(text: unknown) => string}
   */
  const visible = (text) => String(text ?? '').replace(/\t/g, ' ').replace(HIDDEN, '\ufffd');

  /**
   * For a line of source, whose tabs stay.
   * @type {(text: unknown) => string}
   */
  const visibleSource = (text) => String(text ?? '').replace(HIDDEN, (hidden) => (hidden === '\t' ? hidden : '\ufffd'));

  /**
   * The last part of a path.
   * @type {(path: unknown) => string}
   */
  const fileName = (path) => visible(path).split('/').at(-1) ?? '';

  /** @type {(text: string, length: number) => string} */
  const shortened = (text, length) => (text.length > length ? `${text.slice(0, Math.max(1, length - 1))}…` : text);

  /**
   * Without its middle: begin and end of a name say most.
   * @type {(text: string, length: number) => string}
   */
  const abridged = (text, length) => {
    const end = Math.floor((length - 1) / 2);
    return text.length > length ? `${text.slice(0, length - 1 - end)}…${text.slice(-end)}` : text;
  };

  return { visible, visibleSource, fileName, shortened, abridged };
})();
