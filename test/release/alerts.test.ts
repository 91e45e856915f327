import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { createSnapshot } from '../../streams';
import { createBuildMetrics } from '../../src/app/observe/scrape-sink';
import { compileRules } from '../../src/core/rules/compile';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: {
    readonly summary: string;
    readonly description: string;
    readonly runbook_url: string;
  };
}

interface AlertTest {
  readonly alertname: string;
  readonly exp_alerts: readonly unknown[];
}

const ROOT = join(__dirname, '../..');
const FOLDER = join(ROOT, 'deploy/prometheus');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const { groups } = parse(read('deploy/prometheus/alerts.yaml')) as {
  readonly groups: readonly { readonly rules: readonly Alert[] }[];
};
const alerts = groups.flatMap(({ rules }) => rules);
const { tests } = parse(read('deploy/prometheus/alerts.test.yaml')) as {
  readonly tests: readonly { readonly alert_rule_test: readonly AlertTest[] }[];
};

/** Ends with an error that holds what promtool printed, when it finds a fault. */
const promtool = (...args: readonly string[]) =>
  promisify(execFile)('promtool', args, { cwd: FOLDER });

it('promtool takes the alerts', async () => {
  const { stdout } = await promtool('check', 'rules', 'alerts.yaml');
  expect(stdout).toContain(`SUCCESS: ${String(alerts.length)} rules found`);
});

it('promtool sees each alert fire where it should and nowhere else', async () => {
  const { stdout } = await promtool('test', 'rules', 'alerts.test.yaml');
  expect(stdout).toContain('SUCCESS');
});

const headings = [...read('docs/runbook.md').matchAll(/^#+ (.+)$/gm)].map(
  ([, title = '']) => title,
);

describe.each(alerts.map((each) => [each.alert, each] as const))('%s', (name, alert) => {
  it('fires in a test', () => {
    const fires = tests.flatMap(({ alert_rule_test: each }) => each);
    expect(
      fires.some(
        ({ alertname, exp_alerts: expected }) => alertname === name && expected.length > 0,
      ),
    ).toBe(true);
  });

  it('says how bad it is, what it is, and where its cure stands', () => {
    expect(['warning', 'critical']).toContain(alert.labels.severity);
    expect(alert.annotations.summary).not.toBe('');
    expect(alert.annotations.description).not.toBe('');
    expect(alert.annotations.runbook_url).toBe(`docs/runbook.md#${name.toLowerCase()}`);
    expect(headings).toContain(name);
  });

  it('asks for metrics that the dashboard shows, whose test finds each in a real scrape', () => {
    const dashboard = read('examples/grafana/weir.json');
    const metrics = alert.expr.match(/\b(?:ratelimit|weir|nodejs|process)_\w+/g) ?? [];
    expect(metrics.filter((metric) => !dashboard.includes(metric))).toEqual([]);
  });
});

it('knows an instance without limits by its hash', () => {
  const metrics = createBuildMetrics(createSnapshot(compileRules([])), () => 0)();
  const hash = metrics.find(({ name }) => name === 'weir_config_hash')?.value;
  const { expr = '' } = alerts.find(({ alert }) => alert === 'WeirNoRules') ?? {};
  expect(expr).toContain(`weir_config_hash == ${String(hash)}`);
});
