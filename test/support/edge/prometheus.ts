import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually';
import { freePort } from '../free-port';

/** One series of an answer, with its value now. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [seconds: number, text: string];
}

/** Prometheus of Debian, scraping these ports twice in a second. */
export async function startPrometheus(...targetPorts: readonly number[]) {
  const folder = await mkdtemp(join(tmpdir(), 'weir-prometheus-'));
  const port = await freePort();
  const file = join(folder, 'prometheus.yml');
  const targets = targetPorts.map((each) => `"127.0.0.1:${String(each)}"`).join(', ');
  await writeFile(
    file,
    `global: { scrape_interval: 500ms, scrape_timeout: 400ms }
scrape_configs:
  - job_name: ratelimit
    static_configs: [{ targets: [${targets}] }]
`,
  );
  const child = spawn(
    'prometheus',
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${String(port)}`,
    ],
    { stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${String(port)}`;
  await eventually(
    async () => {
      const { status } = await fetch(`${url}/-/ready`);
      if (status !== 200) throw new Error(`not ready: ${String(status)}`);
    },
    { withinMs: 20_000, everyMs: 50 },
  );
  /** All series of a PromQL query; throws what Prometheus has against it. */
  async function series(promql: string): Promise<readonly Series[]> {
    const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(promql)}`);
    const { data, error } = (await response.json()) as {
      readonly data?: { readonly result: readonly Series[] };
      readonly error?: string;
    };
    if (data === undefined) throw new Error(`${promql}: ${String(error)}`);
    return data.result;
  }
  return {
    series,
    /** The value of a PromQL query with one result; undefined while there is none. */
    async query(promql: string): Promise<number | undefined> {
      const [first, ...more] = await series(promql);
      if (more.length > 0) throw new Error(`${promql} has more than one result`);
      return first === undefined ? undefined : Number(first.value[1]);
    },
    async stop() {
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}
