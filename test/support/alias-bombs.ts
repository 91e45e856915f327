const LEVELS = 60;

const bombOf = (name: string, first: string, next: (n: number) => string) => ({
  name,
  text: ['domain: x', first, ...Array.from({ length: LEVELS }, (_, at) => next(at + 1))].join('\n'),
});

/** Rule files of a few lines whose aliases stand for more nodes than any memory holds. */
export const ALIAS_BOMBS = [
  bombOf('descriptors', 'descriptors: &a0 [{key: a}, {key: b}]', (n) => {
    const below = `descriptors: *a${String(n - 1)}`;
    return `descriptors: &a${String(n)} [{key: a, ${below}}, {key: b, ${below}}]`;
  }),
  bombOf('lists', 'metadata: &a0 [lol]', (n) => {
    return `metadata: &a${String(n)} [${`*a${String(n - 1)},`.repeat(9)}]`;
  }),
  bombOf('merged maps', 'unit: &a0 {x: 1}', (n) => {
    const below = `*a${String(n - 1)}`;
    return `unit: &a${String(n)} {${`k${String(n)}: ${below}, <<: ${below},`.repeat(9)}}`;
  }),
];
