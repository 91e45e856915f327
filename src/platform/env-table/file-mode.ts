import type { Parser } from './parser';

/** Permission bits as `chmod` takes them, in octal: `0660`, `660`. */
export const fileMode: Parser<number> = {
  expected: 'a file mode in octal, 0000 to 0777',
  parse: (text) => (/^0?[0-7]{3}$/.test(text) ? Number.parseInt(text, 8) : undefined),
};
