import fc from 'fast-check';
import { createTaggedNaming } from '../../../../src/stats/tagged-statsd/tagged-naming';

const HITS = {
  pattern: /^rl\.([^.]+)\.(.+)\.(total_hits)$/,
  metricName: 'hits.$3',
  tags: { domain: '$1', descriptor: '$2', whole: '$0' },
};
const REST = { pattern: /^rl\.([^.]+)\.(.+)\.(\w+)$/, metricName: '$3', tags: { domain: '$1' } };

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

  it('takes the first rule that fits, whatever others would say', () => {
    const written = (rules: (typeof HITS | typeof REST)[]) =>
      createTaggedNaming({ rules, extraTags: { app: 'x' } })('rl.web.user.total_hits');
    expect(written([HITS, REST])).toEqual({
      name: 'hits.total_hits',
      suffix: '|#app:x,domain:web,descriptor:user,whole:rl.web.user.total_hits',
    });
    expect(written([REST, HITS])).toEqual({ name: 'total_hits', suffix: '|#app:x,domain:web' });
  });

  it('reads $10 as the tenth group, and one that is not there as nothing', () => {
    const rule = { pattern: /^(a)(b)$/, metricName: 'n$1$10$2$9', tags: {} };
    expect(createTaggedNaming({ rules: [rule], extraTags: {} })('ab').name).toBe('nab');
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
