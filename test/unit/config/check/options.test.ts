import { parseCheckOptions } from '../../../../src/config/check/options';

describe('the flags of the rule checker', () => {
  it.each([
    [['-config_dir', 'rules'], 'rules', false],
    [['--config_dir', 'rules'], 'rules', false],
    [['-config_dir=a=b'], 'a=b', false],
    [['-config_dir', '-x'], '-x', false],
    [['-merge_domain_configs', '-config_dir', 'rules'], 'rules', true],
    [['-config_dir', 'rules', '--merge_domain_configs=T'], 'rules', true],
    [['-config_dir', 'rules', '-merge_domain_configs=false'], 'rules', false],
  ])('%j check a directory', (args, directory, mergeDomains) => {
    expect(parseCheckOptions(args)).toEqual({ kind: 'check', directory, mergeDomains });
  });

  it.each([[['-h']], [['--help']], [['-config_dir', 'rules', '-help']]])(
    '%j ask for help',
    (args) => {
      expect(parseCheckOptions(args)).toEqual({ kind: 'help' });
    },
  );

  it.each([
    [[], '-config_dir needs a directory'],
    [['-config_dir'], '-config_dir needs a directory'],
    [['-config_dir='], '-config_dir needs a directory'],
    [['rules'], 'unknown argument "rules"'],
    [['-config_dir', 'rules', 'more'], 'unknown argument "more"'],
    [['-merge'], 'unknown argument "-merge"'],
    [
      ['-config_dir', 'r', '-merge_domain_configs=yes'],
      '-merge_domain_configs is either true or false, not "yes"',
    ],
    [
      ['-config_dir', 'r', '-merge_domain_configs=toString'],
      '-merge_domain_configs is either true or false, not "toString"',
    ],
  ])('%j are a mistake', (args, message) => {
    expect(parseCheckOptions(args)).toEqual({ kind: 'mistake', message });
  });
});
