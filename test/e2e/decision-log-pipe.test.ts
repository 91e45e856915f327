import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/edge/eventually';
import { ask, startService, stopServices, type Service } from '../support/edge/service';

let folder = '';
let fifo = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-decisions-'));
  fifo = join(folder, 'fifo');
  execFileSync('mkfifo', [fifo]);
});
afterEach(async () => {
  await stopServices();
  rmSync(folder, { recursive: true });
});

const LOGGING = {
  BACKEND_TYPE: 'memory',
  DECISION_LOG: 'all',
  DECISION_LOG_SAMPLE: '1',
  DECISION_LOG_MAX_PER_SECOND: '100000',
};

/** More lines than a pipe holds. */
async function fillPipe(service: Service): Promise<void> {
  for (let round = 0; round < 15; round++) {
    const values = Array.from({ length: 20 }, (_, i) => `user=${String(i)}${'x'.repeat(3_000)}`);
    await Promise.all(values.map((entry) => ask(service, 'shop', entry)));
  }
}

it('stops in order while the reader of its FIFO stands still, and says how many lines are lost', async () => {
  const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  const service = await startService({ env: { ...LOGGING, DECISION_LOG_FILE: fifo } });
  await fillPipe(service);
  expect(await service.stop()).toBe(0);
  expect(service.output()).toMatch(/the decision log has dropped lines: .* lines=\d+/);
  closeSync(reader);
});

it('ends at a second signal while the reader of its standard output stands still', async () => {
  // Without the delay it could have stopped in order before the second signal.
  const service = await startService({ env: { ...LOGGING, DRAIN_DELAY: '60s' } });
  service.child.stdout?.pause();
  await fillPipe(service);
  service.child.kill('SIGTERM');
  await eventually(() => {
    expect(service.output()).toContain('stopping on SIGTERM');
  });
  await eventually(() => {
    // One that follows the first at once counts as the same.
    service.child.kill('SIGINT');
    expect(service.output().includes('ended by a second signal')).toBe(true);
    expect(service.child.exitCode).not.toBeNull();
  });
});

it('does not start with a FIFO that no process reads', async () => {
  const service = await startService({
    env: { ...LOGGING, DECISION_LOG_FILE: fifo },
    waitUntilUp: false,
  });
  await eventually(() => {
    expect(service.child.exitCode).toBe(1);
  });
  expect(service.output()).toContain('cannot open the file: no process reads this FIFO (ENXIO)');
});
