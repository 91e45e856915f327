import { parseCheckOptions } from '../../../../src/rule-sources/check/options';

describe('the flags of the rule checker', () => {
  it.each([
    [['-config_dir', 'rules'], 'rules', false],
    [['--config_dir', 'rules'], 'rules', false],
    [['-config_dir=a=b'], 'a=b', false],
    [['-config_dir', '-x'], '-x', false],
    [['-merge_domain_configs', '-config_dir', 'rules'], 'rules', true],
    [['-config_dir', 'rules', '--merge_domain_configs=T'], 'rules', true],
    [['-config_dir', 'rules', '-merge_domain_configs=false'], 'rules', false],
  ])('%j check a directory', (args, path, mergeDomains) => {
    const source = { kind: 'directory', path };
    expect(parseCheckOptions(args)).toEqual({ kind: 'check', source, mergeDomains, strict: false });
  });

  it('take files of a deployment, also from the standard input', () => {
    expect(parseCheckOptions(['-deployment', '-', '--deployment=a.env'])).toMatchObject({
      source: undefined,
      deployments: ['-', 'a.env'],
    });
  });

  it('take a file of keys', () => {
    expect(parseCheckOptions(['-key_file', 'keys', '-'])).toMatchObject({ keyFile: 'keys' });
    expect(parseCheckOptions(['-key_file=a=b', '-'])).toMatchObject({ keyFile: 'a=b' });
  });

  it.each([
    [['rules.yaml'], { kind: 'file', path: 'rules.yaml' }, false],
    [['-strict', 'rules.yaml'], { kind: 'file', path: 'rules.yaml' }, true],
    [['-'], { kind: 'standard-input' }, false],
    [['--strict=false', '-'], { kind: 'standard-input' }, false],
  ])('%j check one file', (args, source, strict) => {
    expect(parseCheckOptions(args)).toEqual({ kind: 'check', source, mergeDomains: false, strict });
  });

  it('ask for a store that has to count by the rules', () => {
    for (const kind of ['kvstore', 'memstore', 'memory'])
      expect(parseCheckOptions(['-backend', kind, '-'])).toMatchObject({
        abilities: { kind, scripts: true },
      });
  });

  it.each([[['-h']], [['--help']], [['-config_dir', 'rules', '-help']]])(
    '%j ask for help',
    (args) => {
      expect(parseCheckOptions(args)).toEqual({ kind: 'help' });
    },
  );

  it.each([
    [[], 'expected one of -config_dir DIR, FILE or -, or -check_config PATH or -deployment FILE'],
    [['-config_dir'], '-config_dir needs a directory'],
    [['-config_dir='], '-config_dir needs a directory'],
    [
      ['-config_dir', 'rules', 'more'],
      'expected one of -config_dir DIR, FILE or -, or -check_config PATH or -deployment FILE',
    ],
    [
      ['a.yaml', '-'],
      'expected one of -config_dir DIR, FILE or -, or -check_config PATH or -deployment FILE',
    ],
    [['-strict=maybe', '-'], '-strict is "maybe", expected true or false'],
    [['-backend=redis', '-'], '-backend is "redis", expected one of kvstore, memstore, memory'],
    [
      ['-backend=memory', '-backend=kvstore', '-'],
      '-backend is "memory", "kvstore", expected one of kvstore, memstore, memory',
    ],
    [['-', '-key_file'], '-key_file needs a file'],
    [['-', '-deployment', '-'], '- is named more than once: the standard input can be read once'],
    [
      ['-deployment=-', '-deployment', '-'],
      '- is named more than once: the standard input can be read once',
    ],
    [['-merge'], 'unknown argument "-merge"'],
    [
      ['-config_dir', 'r', '-merge_domain_configs=yes'],
      '-merge_domain_configs is "yes", expected true or false',
    ],
    [
      ['-config_dir', 'r', '-merge_domain_configs=toString'],
      '-merge_domain_configs is "toString", expected true or false',
    ],
  ])('%j are a mistake', (args, message) => {
    expect(parseCheckOptions(args)).toEqual({ kind: 'mistake', message });
  });
});
