import { parseCommandLine, USAGE } from '../../../../src/app/process/command-line';

it.each([
  [[], { kind: 'serve' }],
  [['/bin/ratelimit'], { kind: 'serve' }],
  [['--help'], { kind: 'help' }],
  [['-h'], { kind: 'help' }],
  [['-version'], { kind: 'version' }],
  [['-v'], { kind: 'version' }],
  [['--constructor'], { kind: 'mistake', message: 'unknown argument "--constructor"' }],
  [['--completion', 'bash'], { kind: 'completion' }],
  [['--completion', 'fish'], { kind: 'mistake', message: '--completion is "fish", expected bash' }],
  [['serve'], { kind: 'mistake', message: 'unknown argument "serve"' }],
  [[''], { kind: 'mistake', message: 'unknown argument ""' }],
])('reads %j', (words, command) => {
  expect(parseCommandLine(words, {})).toEqual(command);
});

const warningOf = (words: readonly string[], env = { RUNTIME_ROOT: '/data' }) => {
  const command = parseCommandLine(words, env);
  return command.kind === 'serve' ? command.warning : command;
};
const ignored = (names: string) =>
  `arguments are ignored: ${names}; settings come from the environment, and ratelimit --help lists them`;

it.each([
  [['-config', '/data/rules.yaml'], '-config, argument 2 (not shown)'],
  [['--config-dir=/data', '--redis-url=redis://:hunter2@redis:6379'], '--config-dir, --redis-url'],
  [
    ['serve', '--auth', 'hunter2', 'hunter3'],
    'serve, --auth, argument 3 (not shown), argument 4 (not shown)',
  ],
  [['Hunter2!'], 'argument 1 (not shown)'],
  [['-1secret', 'word'], 'argument 1 (not shown), argument 2 (not shown)'],
  [['/bin/ratelimit', '-log.level', 'debug'], '-log.level, argument 2 (not shown)'],
  [Array<string>(22).fill('-x'), `${Array<string>(20).fill('-x').join(', ')} and 2 more`],
])(
  'starts with %j where settings deploy it, and names the arguments without their values',
  (words, names) => {
    expect(warningOf(words)).toBe(ignored(names));
  },
);

it('starts as its own argument with others behind it, whatever is set', () => {
  expect(parseCommandLine(['/bin/ratelimit', '-v'], {})).toEqual({
    kind: 'serve',
    warning: ignored('-v'),
  });
});

it.each([
  'RUNTIME_ROOT',
  'BACKEND_TYPE',
  'REDIS_URL',
  'KVSTORE_URL',
  'MEMCACHE_HOST_PORT',
  'MEMSTORE_HOST_PORT',
  'MEMCACHE_SRV',
  'MEMSTORE_SRV',
  'CONFIG_TYPE',
])('takes %s for a deployment by settings', (name) => {
  const { kind } = parseCommandLine(['-config', 'x'], { [name]: 'x' });
  expect(kind).toBe('serve');
});

it.each([
  [{}],
  [{ RUNTIME_ROOT: '' }],
  [{ LOG_LEVEL: 'debug', RUNTIME_SUBDIRECTORY: 'x', PORT: '8080' }],
  // Kubernetes sets it for a Service `memcache-host`.
  [{ MEMCACHE_HOST_PORT: 'tcp://10.0.0.1:11211' }],
])('takes an unknown flag for a mistake beside %j', (env) => {
  expect(parseCommandLine(['-config', 'x'], env).kind).toBe('mistake');
});

it('prints help and version where settings deploy it, too', () => {
  expect(parseCommandLine(['-h'], { RUNTIME_ROOT: '/data' }).kind).toBe('help');
  expect(parseCommandLine(['-v'], { RUNTIME_ROOT: '/data' }).kind).toBe('version');
  expect(USAGE).toContain('Other arguments are a mistake, or a warning');
});
