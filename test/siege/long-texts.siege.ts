import { parseDuration } from '../../src/platform/env-table/parsers';
import { compilePattern } from '../../src/platform/pattern';
import { ENVOY_TEXT, ISTIO_TEXT } from '../../src/simulate/log-formats';
import { createRegistry } from '../../src/stats/registry';
import { createTaggedNaming } from '../../src/stats/names';
import { createRequestDecoder } from '../../src/wire/ratelimit/decode-request';
import { ALIAS_BOMBS } from '../support/alias-bombs';
import { UNBOUNDED } from '../support/bounds';
import { startStopwatch } from '../support/edge/core-time';
import { expectFigure } from '../support/edge/figure';
import { parseText } from '../support/rule-texts';
import { longTextLines } from '../support/text-log-lines';

/** Does the work once, and takes the time of it as a figure. */
function expectBelow(name: string, below: number, work: () => void): void {
  const elapsedMs = startStopwatch();
  work();
  expectFigure({ name, value: elapsedMs(), unit: 'ms', below });
}

it('a duration of 100,000 digits is refused at once', () => {
  expectBelow('all of it', 1_000, () => {
    expect(parseDuration(`${'1'.repeat(100_000)}x`)).toBeUndefined();
  });
});

it('a pattern takes time in proportion to the text', () => {
  const pattern = compilePattern('(a*)*(a*)*(a*)*b$');
  expectBelow('all of it', 1_000, () => {
    for (let i = 0; i < 100; i++) expect(pattern('a'.repeat(2_000))).toBeUndefined();
  });
});

it('a rule of tags takes no second for names of a thousand dots', () => {
  const pattern = compilePattern(
    '^ratelimit\\.service\\.rate_limit\\.(.*)\\.(.*)\\.(.*)\\.over_limit$',
  );
  const rules = [{ pattern, metricName: 'n', tags: { a: '$1' } }];
  const naming = createTaggedNaming({ rules, extraTags: {} });
  expectBelow('all of it', 1_000, () => {
    for (let i = 0; i < 100; i++) {
      const name = `ratelimit.service.rate_limit.${String(i)}${'.'.repeat(1_000)}domain_not_found`;
      expect(naming(name).name).toBe(name);
    }
  });
});

it('a text log is read in time in proportion to a line, whatever it holds', () => {
  const lines = longTextLines();
  expectBelow('twelve lines of half a megabyte', 2_000, () => {
    for (const { envoy, istio } of lines) {
      expect(() => ENVOY_TEXT.toFields(envoy)).toThrow();
      expect(() => ISTIO_TEXT.toFields(istio)).toThrow();
    }
  });
});

it.each(ALIAS_BOMBS)('a bomb of $name in a rule file does not go off', ({ text }) => {
  expectBelow('all of it', 5_000, () => {
    expect(parseText(text).problems.some(({ severity }) => severity === 'error')).toBe(true);
  });
});

it('requests of megabytes take a time in proportion to their number', () => {
  const decode = createRequestDecoder(UNBOUNDED);
  expectBelow('all of it', 5_000, () => {
    for (const octet of [0x00, 0x0a, 0x12, 0x33, 0x80, 0xff])
      decode(new Uint8Array(4_194_304).fill(octet), 0, 4_194_304);
  });
});

it('an overlong name of a statistic is looked at to its beginning only, however often it comes', () => {
  const registry = createRegistry();
  registry.limitSeries({ maxSeries: 10, onFull: () => undefined });
  const metric = `shop.${'1.1.1.1 '.repeat(60_000)}`;
  // Cleaned in full it took some 20 ms each time.
  const first = registry.rules.of(metric);
  const before = process.cpuUsage();
  for (let i = 0; i < 1_000; i += 1) expect(registry.rules.of(metric) === first).toBe(true);
  const value = process.cpuUsage(before).user / 1_000;
  expectFigure({ name: 'CPU of 1,000 looks', value, unit: 'ms', below: 2_000 });
});
