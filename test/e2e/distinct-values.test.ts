import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { residentMegabytes } from '../bench/cpu';
import { openGeneratorConnection, type Outcome } from '../bench/generator-connection';
import { createHeaderWriter, createVariedValues } from '../bench/generator-headers';
import { rateLimitMessage } from '../bench/request';
import { expectFigure } from '../support/edge/figure';
import { startService, stopServices } from '../support/edge/service';

const RULES = `domain: edge
descriptors:
  - key: user
    detailed_metric: true
    rate_limit: { unit: day, requests_per_unit: 1000000 }
`;
/** `DISTINCT_VALUES=1000000` runs the whole million; the suite a share of it. */
const VALUES = Number(process.env['DISTINCT_VALUES'] ?? 200_000);
const IN_FLIGHT = 200;

afterEach(stopServices);

it('many distinct values on a rule with detailed_metric neither fill the memory nor slow decisions down', async () => {
  const root = await mkdtemp(join(tmpdir(), 'weir-distinct-'));
  await mkdir(join(root, 'config'));
  await writeFile(join(root, 'config', 'edge.yaml'), RULES);
  const service = await startService({
    // The counters themselves are bounded by a setting of their own.
    env: { RUNTIME_ROOT: root, BACKEND_TYPE: 'memory', MEMORY_MAX_KEYS: '20000' },
  });
  const outcome: Outcome = { ok: 0, overLimit: 0, errors: 0 };
  const times: number[] = [];
  let sent = 0;
  let answered = 0;
  await new Promise<void>((resolve, reject) => {
    const messages = Array.from({ length: VALUES }, (_, i) =>
      rateLimitMessage('user', `user-${String(i)}`),
    );
    const [host = '', port = ''] = service.grpc.split(':');
    openGeneratorConnection(host, Number(port), {
      writeHeaders: createHeaderWriter(createVariedValues()),
      messages,
      outcome,
      onAnswer(_due, sentMs, nowMs) {
        times.push(nowMs - sentMs);
      },
      onTurn(connection, count) {
        answered += count;
        const more = Math.min(count, VALUES - sent);
        sent += more;
        if (more > 0) connection.send(more, 0);
        if (answered < VALUES) return;
        connection.end();
        resolve();
      },
      onLeaving() {
        reject(new Error('the server closes the connection'));
      },
    }).then((connection) => {
      sent = IN_FLIGHT;
      connection.send(IN_FLIGHT, 0);
    }, reject);
  });
  const megabytes = residentMegabytes(service.child.pid ?? 0);
  const stats = (await (await fetch(`${service.debug}/stats`)).text()).split('\n');
  await rm(root, { recursive: true });

  expect([outcome.ok, outcome.errors]).toEqual([VALUES, 0]);
  const sum = stats
    .filter((line) => /^ratelimit\.service\.rate_limit\.edge\..*\.total_hits: /.test(line))
    .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  expect(sum).toBe(VALUES);
  expect(megabytes).toBeLessThan(300);
  // Where each value got a series of its own, and where all are in `overflow`.
  const half = Math.floor(times.length / 2);
  const median = (part: readonly number[]) => part.toSorted((a, b) => a - b)[half >> 1] ?? NaN;
  const [early, late] = [median(times.slice(0, half)), median(times.slice(half))];
  expectFigure({ name: 'median of the late', value: late, unit: 'ms', below: 3 * early + 5 });
  process.stdout.write(
    `${String(VALUES)} values: ${megabytes.toFixed(0)} MB, medians ${early.toFixed(2)} and ${late.toFixed(2)} ms\n`,
  );
}, 300_000);
