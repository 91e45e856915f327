import type { Pattern } from '../../../src/platform/pattern';
import { settingsOf, warningsOf } from './results';

const outputOf = (env: Readonly<Record<string, string>>) => settingsOf(env).statistics.output;

describe('the output of statistics', () => {
  it.each([
    [{}, 'statsd'],
    [{ USE_STATSD: 'true' }, 'statsd'],
    [{ USE_STATSD: 'false' }, 'stdout'],
    [{ USE_PULLMETRICS: 'true' }, 'pull-metrics'],
    [{ USE_PROMETHEUS: 'true', USE_STATSD: 'false' }, 'pull-metrics'],
    [{ USE_PULLMETRICS: 'false' }, 'statsd'],
    [{ USE_DOG_STATSD: 'true' }, 'tagged-statsd'],
    [{ DISABLE_STATS: 'true' }, 'none'],
    [{ DISABLE_STATS: 'false' }, 'statsd'],
  ])('of %j is %s', (env, output) => {
    expect(outputOf(env)).toBe(output);
  });

  it.each([
    [{}, false],
    [{ EXTRA_TAGS: 'a:b', STATS_FLUSH_INTERVAL: '1s' }, false],
    [{ USE_STATSD: 'true' }, true],
    [{ USE_DOG_STATSD: 'true' }, true],
    [{ STATSD_HOST: 'localhost' }, true],
    [{ STATSD_PORT: '8125' }, true],
    [{ STATSD_PROTOCOL: 'tcp' }, true],
  ])('under %j is StatsD that somebody asked for: %s', (env, isAsked) => {
    expect(settingsOf(env).statistics.statsd.isAsked).toBe(isAsked);
  });

  it('is off when statistics are disabled, which is said to whoever asked for one', () => {
    const env = { DISABLE_STATS: 'true', USE_STATSD: 'true', BACKEND_TYPE: 'memory' };
    expect(outputOf(env)).toBe('none');
    expect(warningsOf(env)).toEqual([
      'USE_STATSD="true" has no effect beside DISABLE_STATS="true"',
    ]);
  });
});

describe('mogrifiers', () => {
  const hits = {
    USE_DOG_STATSD: 'true',
    USE_DOG_STATSD_MOGRIFIERS: 'HITS,rest',
    DOG_STATSD_MOGRIFIER_HITS_PATTERN: '^rl\\.(?P<domain>[^.]+)\\.total_hits$',
    DOG_STATSD_MOGRIFIER_HITS_NAME: 'rl.total_hits',
    DOG_STATSD_MOGRIFIER_HITS_TAGS: 'domain:$1',
    TAGGED_STATSD_MOGRIFIER_REST_PATTERN: '^rl\\.(.+)$',
    TAGGED_STATSD_MOGRIFIER_REST_NAME: 'rl.$1',
  };

  it('come in the order of their list, each under its name in upper case', () => {
    const { mogrifiers } = settingsOf(hits).statistics;
    expect(mogrifiers).toEqual([
      {
        name: 'HITS',
        pattern: expect.any(Function) as Pattern,
        metricName: 'rl.total_hits',
        tags: { domain: '$1' },
      },
      {
        name: 'REST',
        pattern: expect.any(Function) as Pattern,
        metricName: 'rl.$1',
        tags: {},
      },
    ]);
    expect(mogrifiers.map(({ pattern }) => pattern('rl.web.total_hits'))).toEqual([
      ['rl.web.total_hits', 'web'],
      ['rl.web.total_hits', 'web.total_hits'],
    ]);
  });
});
