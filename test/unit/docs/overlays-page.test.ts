import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { parseOverlays } from '../../../src/core/rules/overlays/parse-overlays';
import { parseRules } from '../../../src/rule-sources/parse-rules';
import { readRuleFile } from '../../../src/rule-sources/yaml/read-rule-file';
import { inOneStep } from '../../support/in-one-step';

const ROOT = join(__dirname, '../../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const pages = ['docs/rules', 'docs/gateways'].flatMap((folder) =>
  readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`),
);
const blocks = pages.flatMap((page) =>
  [...read(page).matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text = '']) => ({ page, text })),
);
const inKubernetes = parse(
  read('deploy/kubernetes/overlays/envoy-ai-gateway/rule-overlays.yaml'),
) as { readonly data: Readonly<Record<string, string>> };
const inChart = parse(read('deploy/helm/weir/envoy-ai-gateway.yaml')) as {
  readonly rules: Readonly<Record<string, string>>;
};

it.each([
  ...blocks.filter(({ text }) => text.startsWith('overlays:')),
  { page: 'the kustomization', text: inKubernetes.data['quota.yaml'] ?? '' },
  { page: 'the chart', text: inChart.rules['quota.yaml'] ?? '' },
])('overlays in $page are without a mistake', ({ text }) => {
  const { overlays, problems } = inOneStep(parseOverlays([readRuleFile('overlays.yaml', text)]));
  expect(problems).toEqual([]);
  expect(overlays).not.toEqual([]);
});

it('the chart gives what the kustomization gives', () => {
  const [own, ofChart] = [inKubernetes.data['quota.yaml'] ?? '', inChart.rules['quota.yaml'] ?? ''];
  expect(parse(ofChart)).toEqual(parse(own));
});

it.each(blocks.filter(({ text }) => /^domain: .*\ndescriptors:/.test(text)))(
  'rules in $page are without a mistake',
  ({ text }) => {
    const file = { file: 'rules.yaml', bytes: Buffer.from(text) };
    expect(parseRules([file], { mergeDomains: false }).problems).toEqual([]);
  },
);
