import fc from 'fast-check';
import { compilePattern } from '../../../src/platform/pattern';
import { createTaggedNaming } from '../../../src/stats/names';

const HITS = {
  pattern: compilePattern('^rl\\.([^.]+)\\.(.+)\\.(total_hits)$'),
  metricName: 'hits.$3',
  tags: { domain: '$1', descriptor: '$2', whole: '$0' },
};
const REST = {
  pattern: compilePattern('^rl\\.([^.]+)\\.(.+)\\.(\\w+)$'),
  metricName: '$3',
  tags: { domain: '$1' },
};

describe('createTaggedNaming', () => {
  it('writes extra tags as tags', () => {
    const naming = createTaggedNaming({ rules: [], extraTags: { zone: 'eu', app: 'shop' } });
    expect(naming('a.b')).toEqual({ name: 'a.b', suffix: '|#app:shop,zone:eu' });
  });

  it('writes no tags where there are none', () => {
    expect(createTaggedNaming({ rules: [HITS], extraTags: {} })('a.b')).toEqual({
      name: 'a.b',
      suffix: '',
    });
  });

  it('takes the tags out of a name, before any rule sees it', () => {
    const written = (name: string, rules: (typeof HITS)[] = []) =>
      createTaggedNaming({ rules, extraTags: { app: 'x' } })(name);
    expect(written('ratelimit.memcache.add.__code=success')).toEqual({
      name: 'ratelimit.memcache.add',
      suffix: '|#app:x,code:success',
    });
    expect(written('rl.web.user.total_hits.__a=1=2.__b=3,c', [HITS])).toEqual({
      name: 'hits.total_hits',
      suffix: '|#app:x,a:1=2,b:3_c,domain:web,descriptor:user,whole:rl.web.user.total_hits',
    });
  });

  it.each(['rl.web.user.__a_b', 'rl.web.user.__a_b.__c=d', 'rl.web.__', 'rl.a=b.__c'])(
    'leaves %s, in which not every part is a tag, as it is',
    (name) => {
      expect(createTaggedNaming({ rules: [], extraTags: {} })(name)).toEqual({ name, suffix: '' });
    },
  );

  it('takes the first rule that fits, whatever others would say', () => {
    const written = (rules: (typeof HITS | typeof REST)[]) =>
      createTaggedNaming({ rules, extraTags: { app: 'x' } })('rl.web.user.total_hits');
    expect(written([HITS, REST])).toEqual({
      name: 'hits.total_hits',
      suffix: '|#app:x,domain:web,descriptor:user,whole:rl.web.user.total_hits',
    });
    expect(written([REST, HITS])).toEqual({ name: 'total_hits', suffix: '|#app:x,domain:web' });
  });

  it.each([
    ['n$1$10$2$9', 'na$10b$9'],
    ['$01.$99999999999999999999', 'a.$99999999999999999999'],
    ['$3.$2', '.b'],
    ['$$1.${1}.$name', '$a.${1}.$name'],
  ])(
    'fills %s with the groups that the pattern has, and leaves the rest as written',
    (metricName, name) => {
      const rule = { pattern: compilePattern('^(a)(b)(c)?$'), metricName, tags: { t: metricName } };
      expect(createTaggedNaming({ rules: [rule], extraTags: {} })('ab')).toEqual({
        name,
        suffix: `|#t:${name}`,
      });
    },
  );

  it('matches a name once, however many flushes come', () => {
    let matches = 0;
    const pattern = () => {
      matches += 1;
      return undefined;
    };
    const rule = { pattern, metricName: 'n', tags: {} };
    const naming = createTaggedNaming({ rules: [rule], extraTags: { app: 'x' } });
    for (let flush = 0; flush < 3; flush++) {
      expect(naming('a.b')).toEqual({ name: 'a.b', suffix: '|#app:x' });
      naming('c.d');
    }
    expect(matches).toBe(2);
  });

  it('leaves names of a thousand dots that fit no rule as they are', () => {
    const pattern = compilePattern(
      '^ratelimit\\.service\\.rate_limit\\.(.*)\\.(.*)\\.(.*)\\.over_limit$',
    );
    const rules = [{ pattern, metricName: 'n', tags: { a: '$1' } }];
    const naming = createTaggedNaming({ rules, extraTags: {} });
    for (let i = 0; i < 100; i++) {
      const name = `ratelimit.service.rate_limit.${String(i)}${'.'.repeat(1_000)}domain_not_found`;
      expect(naming(name).name).toBe(name);
    }
  });

  it('lets no value from a request start another tag, value or line', () => {
    const naming = createTaggedNaming({ rules: [REST], extraTags: {} });
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(',', '|', '\n', '#', 'a', ':') }), (text) => {
        const { name, suffix } = naming(`rl.${text}x.y.z`);
        expect(name + suffix.replace('|#', '')).not.toMatch(/[,|\n]/);
      }),
    );
  });
});
