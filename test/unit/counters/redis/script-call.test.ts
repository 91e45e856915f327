import fc from 'fast-check';
import { Command, type Redis } from 'ioredis';
import { SCRIPTS } from '../../../../src/counters/redis/lua/scripts';
import { callScript, encodeArguments } from '../../../../src/counters/redis/script-call';
import { SOME_MATCH } from '../../../support/rules';

const increments = fc.array(
  fc.record({
    key: fc.string({ unit: 'binary', minLength: 1 }),
    hits: fc.oneof(fc.nat(), fc.integer(), fc.bigInt({ min: 0n, max: 2n ** 63n })),
    limit: fc.nat(),
    ttlSeconds: fc.constantFrom(60, 61, 3600),
    windowEndSeconds: fc.constant(0),
    rule: fc.constant(SOME_MATCH.rule),
    entries: fc.constant(SOME_MATCH.entries),
    limiter: fc.constant(SOME_MATCH.rule.limiter),
    times: fc.constant(1),
  }),
  { maxLength: 20 },
);

type Name = 'evalsha' | 'eval';

/** What goes to the socket. */
function written(name: Name, args: Parameters<typeof encodeArguments>): unknown {
  let text: unknown;
  const client = {
    sendCommand(command: Command) {
      text = command.toWritable({});
      command.resolve(Buffer.from('OK'));
    },
  };
  void callScript(client as unknown as Redis, SCRIPTS.add, encodeArguments(...args), name);
  return text;
}

/** The client's own encoding of the same call. */
function expected(name: Name, words: readonly (string | number | bigint)[]): unknown {
  const script = name === 'eval' ? SCRIPTS.add.source : SCRIPTS.add.sha;
  return new Command(name, [script, ...words.map(String)]).toWritable({});
}

describe('a script call', () => {
  it.each(['evalsha', 'eval'] as const)('is the RESP that the client would write: %s', (name) => {
    fc.assert(
      fc.property(increments, fc.boolean(), (batch, isDeclaringKeys) => {
        const head = isDeclaringKeys ? [batch.length] : [0, batch.length];
        const keys = batch.map(({ key }) => key);
        const rest = batch.flatMap(({ hits, ttlSeconds }) => [hits, ttlSeconds]);
        expect(written(name, [batch, undefined, isDeclaringKeys])).toBe(
          expected(name, [...head, ...keys, ...rest]),
        );
      }),
    );
  });

  it('brings limits and the ends of runs where they are given', () => {
    fc.assert(
      fc.property(increments, fc.array(fc.nat()), fc.boolean(), (batch, ends, isDeclaringKeys) => {
        const head = isDeclaringKeys ? [batch.length] : [0, batch.length];
        const keys = batch.map(({ key }) => key);
        const rest = batch.flatMap(({ hits, ttlSeconds, limit }) => [hits, ttlSeconds, limit]);
        expect(written('evalsha', [batch, ends, isDeclaringKeys])).toBe(
          expected('evalsha', [...head, ...keys, ...rest, ...ends]),
        );
      }),
    );
  });
});
