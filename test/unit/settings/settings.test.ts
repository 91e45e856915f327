import fc from 'fast-check';
import { type Diagnostics, readTable } from '../../../src/platform/env-table/table';
import { readSettings } from '../../../src/settings/settings';
import { SUBJECTS } from '../../../src/settings/tables';
import { settingsOf } from './results';

const SETTINGS = SUBJECTS.flatMap(({ settings }) => settings);
/** The names of all settings, also the former ones. */
const NAMES = SETTINGS.map(({ name, aliases }) => [name, ...aliases]);

it('report one line each, whatever the environment holds', () => {
  const names = NAMES.flatMap(([name = '']) => name);
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), fc.string()), (env) => {
      const result = readSettings(env);
      const lines = result.ok ? result.warnings : result.problems;
      expect(lines.filter((line) => /[\n\r]/.test(line))).toEqual([]);
    }),
  );
});

it('name mogrifiers in the order of their list, each with its pattern', () => {
  const { mogrifiers } = settingsOf({
    USE_DOG_STATSD: 'true',
    USE_DOG_STATSD_MOGRIFIERS: 'HITS,rest',
    DOG_STATSD_MOGRIFIER_HITS_PATTERN: '^rl\\.(?P<domain>[^.]+)\\.total_hits$',
    DOG_STATSD_MOGRIFIER_HITS_NAME: 'rl.total_hits',
    TAGGED_STATSD_MOGRIFIER_REST_PATTERN: '^rl\\.(.+)$',
    TAGGED_STATSD_MOGRIFIER_REST_NAME: 'rl.$1',
  }).statistics;
  expect(mogrifiers.map(({ pattern }) => pattern('rl.web.total_hits'))).toEqual([
    ['rl.web.total_hits', 'web'],
    ['rl.web.total_hits', 'web.total_hits'],
  ]);
});

describe('the names of existing deployments', () => {
  it.each([
    ['USE_TAGGED_STATSD_MOGRIFIERS', ['TAGGED_STATSD_MOGRIFIERS', 'USE_DOG_STATSD_MOGRIFIERS']],
    ['LocalCacheSizeInBytes', ['LOCAL_CACHE_SIZE_IN_BYTES']],
  ])('%s is also %j', (setting, also) => {
    expect(SETTINGS.find(({ name }) => name === setting)?.aliases).toEqual(also);
  });

  it.each([
    ['KVSTORE', 'REDIS'],
    ['MEMSTORE', 'MEMCACHE'],
    ['PULLMETRICS', 'PROMETHEUS'],
    ['TAGGED_STATSD', 'DOG_STATSD'],
  ])('stand beside every %s setting with %s in its place', (now, former) => {
    const renamed = SETTINGS.filter(({ name }) => name.includes(now));
    expect(renamed.length).toBeGreaterThan(4);
    for (const { name, aliases } of renamed) expect(aliases).toContain(name.replace(now, former));
  });

  it('belong to one setting each', () => {
    expect(new Set(NAMES.flat()).size).toBe(NAMES.flat().length);
  });
});

describe('a Service of Kubernetes that is called like a setting', () => {
  const linked = SETTINGS.flatMap((setting) =>
    [setting.name, ...setting.aliases]
      .filter((name) => name.endsWith('_PORT'))
      .map((name) => [name, setting] as const),
  );
  const LINKS = ['tcp://10.0.0.1:8081', 'udp://10.0.0.1:53', 'tcp://[fd00::1]:8081'];

  it('may have one of these names', () => {
    const names = ['GRPC_PORT', 'DEBUG_PORT', 'STATSD_PORT', 'IDENTITY_PORT', 'MEMSTORE_HOST_PORT'];
    expect(linked.map(([name]) => name)).toEqual(expect.arrayContaining(names));
  });

  it.each(linked)('leaves %s as it is without a value, with a warning', (name, setting) => {
    const read = (env: Readonly<Record<string, string>>) => {
      const diagnostics: Diagnostics = { problems: [], warnings: [] };
      const { values } = readTable({ it: setting }, env, diagnostics);
      return { value: values.it, ...diagnostics };
    };
    for (const link of LINKS)
      expect(read({ [name]: link })).toEqual({
        ...read({}),
        warnings: [
          `${name}="${link}" is a Kubernetes service link, treated as not set; ` +
            'enableServiceLinks: false in the pod turns them off',
        ],
      });
  });

  it('sets no other of our names', () => {
    const made = /_(?:SERVICE_(?:HOST|PORT(?:_.+)?)|PORT_\d+_(?:TCP|UDP|SCTP)(?:_.+)?)$/;
    expect(NAMES.flat().filter((name) => made.test(name))).toEqual([]);
  });
});
