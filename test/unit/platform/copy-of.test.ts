import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { copyOf } from '../../../src/platform/copy-of';

it('is the same text, whatever its characters are', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.boolean(), (text, isBroken) => {
      const whole = isBroken ? `${text}\ud800` : text;
      expect(copyOf(whole)).toBe(whole);
    }),
  );
});

it('keeps no longer text alive that it is a part of', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = used();
  const kept = Array.from({ length: 128 }, (_, n) =>
    copyOf(
      Buffer.alloc(2 ** 19, `${String(n)} of many letters `)
        .toString('latin1')
        .slice(0, 40),
    ),
  );
  expect(used() - before).toBeLessThan(32 * 2 ** 20);
  expect(new Set(kept).size).toBe(128);
});
