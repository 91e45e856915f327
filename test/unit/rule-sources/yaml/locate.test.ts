import { readRuleFile } from '../../../../src/rule-sources/yaml/read-rule-file';
import { MAX_DEPTH } from '../../../../src/fields/located';
import { MAX_ALIASED_NODES } from '../../../../src/rule-sources/yaml/locate-tree';
import { ALIAS_BOMBS } from '../../../support/alias-bombs';
import { parseText, problemsOf, rulesOf } from '../../../support/rule-texts';

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));

describe('the located tree', () => {
  it('says what stands where', () => {
    const { root, problems } = readRuleFile('a.yaml', 'domain: x\ndescriptors:\n  - key: "1"\n');
    expect(problems).toEqual([]);
    expect(root).toEqual({
      kind: 'map',
      at: { line: 1, column: 1 },
      pairs: [
        {
          key: { kind: 'scalar', text: 'domain', quoted: false, at: { line: 1, column: 1 } },
          value: { kind: 'scalar', text: 'x', quoted: false, at: { line: 1, column: 9 } },
        },
        {
          key: { kind: 'scalar', text: 'descriptors', quoted: false, at: { line: 2, column: 1 } },
          value: {
            kind: 'list',
            at: { line: 3, column: 3 },
            items: [
              {
                kind: 'map',
                at: { line: 3, column: 5 },
                pairs: [
                  {
                    key: { kind: 'scalar', text: 'key', quoted: false, at: { line: 3, column: 5 } },
                    value: { kind: 'scalar', text: '1', quoted: true, at: { line: 3, column: 10 } },
                  },
                ],
              },
            ],
          },
        },
      ],
    });
  });

  it.each([
    ['DOS line ends', 'domain: x\r\ndescriptors:\r\n- key: a\r\n  kye: b\r\n'],
    ['old Macintosh line ends', 'domain: x\rdescriptors:\r- key: a\r  kye: b\r'],
    ['the line ends of Unicode', 'domain: x\x85descriptors:\u2028- key: a\u2029  kye: b'],
    ['a byte order mark', '\ufeffdomain: x\ndescriptors:\n- key: a\n  kye: b\n'],
    ['a document start', '---\ndomain: x\ndescriptors: [{key: a,\n  kye: 1}]'],
  ])('counts lines with %s', (_, text) => {
    expect(problemsOf(text)[0]).toMatch(/^4:[34] unknown-key$/);
  });

  it.each([
    ['domain: !!str 1.5', '1.5'],
    ['domain: ! 1.5', '1.5'],
    ['domain: !!int "7"', '7'],
    ['? domain\n: x', 'x'],
    ['{domain: x}', 'x'],
    ['"domain": \'x\'', 'x'],
    ['domain: >-\n  a\n  b', 'a b'],
    ['%YAML 1.1\n---\ndomain: x\n...\n', 'x'],
    ['%YAML 1.2\n---\ndomain: 010', '010'],
    ['domain: x\n---\n', 'x'],
    ['domain: caf\u00e9 \u{1f680}', 'caf\u00e9 \u{1f680}'],
    ['domain: "\\ud83d\\ude80"', '\u{1f680}'],
  ])('%j has a domain', (text, domain) => {
    const { domains, problems } = parseText(text);
    expect(problems).toEqual([]);
    expect(domains.map((one) => one.domain)).toEqual([domain]);
  });
});

describe('anchors', () => {
  it.each(ALIAS_BOMBS)('a bomb of $name does not go off', ({ text }) => {
    const { problems } = parseText(text);
    const errors = problems.filter(({ severity }) => severity === 'error');
    expect(errors.map((problem) => problem.message)).toEqual([
      `the aliases of this file expand to more than ${String(MAX_ALIASED_NODES)} nodes from here on`,
    ]);
  });

  it('a chain of aliases may not nest deeper than a file may', () => {
    const lines = Array.from({ length: 300 }, (_, n) => {
      const below = n === 0 ? '' : `, descriptors: *a${String(n - 1)}`;
      return `descriptors: &a${String(n)} [{key: k${below}}]`;
    });
    const errors = parseText(['domain: x', ...lines].join('\n')).problems.filter(
      ({ severity }) => severity === 'error',
    );
    expect(errors.map((problem) => problem.class)).toEqual(['too-deep']);
  });
});

describe('a text that is no YAML', () => {
  it('has no more than fifty of them listed', () => {
    const { problems } = parseText('a: b: c\n'.repeat(60));
    expect(problems).toHaveLength(51);
    expect(problems[50]?.message).toBe('not valid YAML: 10 more errors from here on');
  });

  it.each<[string, string | Uint8Array, string]>([
    ['a NUL', 'domain: x\0', '1:10 yaml-syntax'],
    ['an escape character', 'domain: x\n# \x1b', '2:3 yaml-syntax'],
    ['a byte order mark inside', 'domain: \ufeffx', '1:9 yaml-syntax'],
    ['half a surrogate pair', 'domain: \ud83d', '1:9 yaml-syntax'],
    ['half an escaped surrogate pair', 'domain: "\\ud83d"', '1:9 yaml-syntax'],
    ['a broken UTF-8 sequence', bytes('domain: x\nk: é', [0xc3], '\nz: 1'), '2:5 invalid-encoding'],
    ['a broken end', bytes('domain: ', [0xe2, 0x82]), '1:9 invalid-encoding'],
    ['Latin-1', Buffer.from('domain: café', 'latin1'), '1:12 invalid-encoding'],
  ])('%s is refused at its place', (_, content, expected) => {
    expect(problemsOf(content)).toEqual([expected]);
  });

  it.each<[string, Uint8Array]>([
    ['UTF-8', Buffer.from('domain: café')],
    ['UTF-8 with a mark', Buffer.from('\ufeffdomain: café')],
    ['UTF-16, little end first', Buffer.from('\ufeffdomain: café', 'utf16le')],
    ['UTF-16, big end first', Buffer.from('\ufeffdomain: café', 'utf16le').swap16()],
  ])('%s is read', (_, content) => {
    expect(parseText(content).domains.map(({ domain }) => domain)).toEqual(['café']);
  });

  it.each([
    ['[', 1],
    ['{a: ', 4],
    ['- ', 2],
    ['? ', 2],
    ['[{', 1],
    ['&a [', 4],
  ])('ten thousand times %j is too deep', (opening, width) => {
    const { problems } = parseText(
      `x: ${opening.repeat(10_000)}`.replace('x: - ', '- ').replace('x: ? ', '? '),
    );
    expect(problems).toEqual([
      expect.objectContaining({
        class: 'too-deep',
        at: { line: 1, column: expect.any(Number) as number },
        message: `lists and maps are nested deeper than ${String(MAX_DEPTH)}`,
      }),
    ]);
    const at = problems[0]?.at;
    expect(at !== undefined && 'line' in at ? at.column : NaN).toBeLessThan(
      MAX_DEPTH * (width + 1) + 10,
    );
  });

  it('is refused when indented ten thousand times', () => {
    const text = Array.from({ length: 400 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n');
    expect(problemsOf(text)).toEqual([expect.stringMatching(/ too-deep$/)]);
  });

  it('is read down to a hundred levels of descriptors', () => {
    let text = '{key: k}';
    for (let depth = 0; depth < 100; depth += 1) text = `{key: k, descriptors: [${text}]}`;
    expect(rulesOf(`{domain: x, descriptors: [${text}]}`)).toHaveLength(101);
  });
});
