import {
  beginHeaders,
  connectAttacker,
  connectRaw,
  repeat,
  wholeCall,
  type Attacker,
} from '../support/edge/h2-attacker';
import { PREFACE, hello } from '../support/h2-frames';
import { expectFigure } from '../support/edge/figure';
import { besideAPoliteClient, startWarmService } from '../support/edge/h2-siege';
import { stopServices } from '../support/edge/service';

const MAX_GROWTH_MB = 64;
const INITIAL_WINDOW_SIZE = 4;

afterAll(stopServices);

/** All of them at once, because each takes as long as our patience with it. */
it('cuts those who keep it waiting, each in its time', async () => {
  const service = await startWarmService();
  const address = service.grpc;
  const seconds = new Map<string, number>();
  const attackers = new Map<string, Attacker>();
  /** From its first step on: nothing that is patient with it began before. */
  const timed = async (name: string, begin: () => Promise<Attacker>) => {
    const began = Date.now();
    const attacker = await begin();
    attackers.set(name, attacker);
    await attacker.closed;
    seconds.set(name, (Date.now() - began) / 1_000);
  };
  const saying = async (one: Promise<Attacker>, octets: Uint8Array): Promise<Attacker> => {
    const attacker = await one;
    await attacker.send(octets);
    return attacker;
  };
  const outcome = await besideAPoliteClient(
    service,
    async () => {
      await Promise.all([
        timed('silent', () => connectRaw(address)),
        timed('slow', async () => trickle(await connectRaw(address), PREFACE, 3_000)),
        timed('unconfirmed', () => saying(connectRaw(address), hello())),
        timed('windowless', () =>
          saying(connectAttacker(address, [INITIAL_WINDOW_SIZE, 0]), repeat(800, wholeCall)),
        ),
        timed('unfinished', () =>
          saying(connectAttacker(address), beginHeaders(1).subarray(0, 20)),
        ),
        // Answers no PING: as if the network had gone.
        timed('gone', () => connectAttacker(address)),
      ]);
    },
    50,
  );

  const between = (name: string, from: number, to: number) => {
    const value = seconds.get(name) ?? NaN;
    expect(value).toBeGreaterThan(from);
    expectFigure({ name: `${name} cut`, value, unit: 's', below: to });
  };
  between('silent', 9, 14);
  between('slow', 9, 14);
  between('unconfirmed', 19, 25);
  between('windowless', 29, 36);
  between('unfinished', 29, 36);
  between('gone', 79, 88);
  const seenBy = (name: string) => attackers.get(name)?.seen() ?? [];
  expect(seenBy('unconfirmed').at(-1)).toMatch(/^goAway 4 /);
  expect(seenBy('unfinished').at(-1)).toMatch(/^goAway 11 /);
  expect(seenBy('windowless')).toContain('rst#1 8');
  expect(seenBy('windowless').at(-1)).toMatch(/^goAway 11 /);
  expect(outcome.failures).toEqual([]);
  const { grownMb } = outcome;
  expectFigure({ name: 'growth of memory', value: grownMb, unit: 'MB', below: MAX_GROWTH_MB });
}, 180_000);

/** Sends octet by octet. */
function trickle(attacker: Attacker, octets: Buffer, everyMs: number): Attacker {
  let at = 0;
  const timer = setInterval(() => attacker.socket.write(octets.subarray(at, ++at)), everyMs);
  void attacker.closed.then(() => {
    clearInterval(timer);
  });
  return attacker;
}
