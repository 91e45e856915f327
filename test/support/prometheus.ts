import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually';
import { freePort } from './free-port';

/** Prometheus of Debian, scraping one port twice in a second. */
export async function startPrometheus(targetPort: number) {
  const folder = await mkdtemp(join(tmpdir(), 'weir-prometheus-'));
  const port = await freePort();
  const file = join(folder, 'prometheus.yml');
  const target = `127.0.0.1:${String(targetPort)}`;
  await writeFile(
    file,
    `global: { scrape_interval: 500ms, scrape_timeout: 400ms }
scrape_configs:
  - job_name: ratelimit
    static_configs: [{ targets: ["${target}"] }]
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
  return {
    /** The value of a PromQL query with one result; undefined while there is none. */
    async query(promql: string): Promise<number | undefined> {
      const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(promql)}`);
      const { data } = (await response.json()) as {
        readonly data: { readonly result: readonly { readonly value: [number, string] }[] };
      };
      const [first, ...more] = data.result;
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
