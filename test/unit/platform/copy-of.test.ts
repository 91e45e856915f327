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
