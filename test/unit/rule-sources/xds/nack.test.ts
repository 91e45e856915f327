import { toErrorDetail } from '../../../../src/rule-sources/xds/protocol';
import { WHOLE, type RuleProblem } from '../../../../src/fields/problem';

const problem = (message: string, more: Partial<RuleProblem> = {}): RuleProblem => ({
  severity: 'error',
  class: 'empty-key',
  file: 'c1',
  at: WHOLE,
  message,
  ...more,
});

describe('the error detail of a NACK', () => {
  it('names every mistake, no remark, under the code of a bad argument', () => {
    const problems = [
      problem('one'),
      problem('remark', { severity: 'warning' }),
      problem('two', { file: '' }),
    ];
    expect(toErrorDetail({ problems })).toEqual({ code: 3, message: 'c1: one\ntwo' });
    const unlisted = { errors: 7, warnings: 2 };
    expect(toErrorDetail({ problems, unlisted }).message).toBe('c1: one\ntwo\nand 7 more');
  });

  it('says how many it leaves out when a server could refuse it for its size', () => {
    const problems = Array.from({ length: 50_000 }, () => problem('x'.repeat(100)));
    const { message } = toErrorDetail({ problems });
    expect(message.length).toBeLessThan(1_000_100);
    const lines = message.split('\n');
    expect(lines.at(-1)).toBe(`and ${String(50_000 - lines.length + 1)} more`);
  });
});
