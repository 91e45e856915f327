import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const ROOT = join(__dirname, '../../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

interface Deployment {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly {
          readonly ports: readonly { readonly containerPort: number }[];
        }[];
      };
    };
  };
}

const { metadata, spec } = parse(read('deploy/kubernetes/base/deployment.yaml')) as Deployment;
const { containers } = spec.template.spec;
const ports = containers.flatMap((each) => each.ports.map(({ containerPort }) => containerPort));
const workers = ['slot', 'pool', 'rule-relay']
  .map((name) => read(`src/app/workers/pool/${name}.ts`))
  .join('\n');

/** The words of a line, without quotes. */
const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word = '']) => quoted ?? word);

const page = read('docs/runbook.md');
const lines = [
  ...[...page.matchAll(/^```\n(.*?)^```/gms)].flatMap(([, block = '']) => block.split('\n')),
  ...[...page.matchAll(/`(kubectl [^`]+)`/g)].map(([, line = '']) => line),
].filter((line) => line.startsWith('kubectl '));

/**
 * What each verb may be followed by. kubectl does nothing without an API server, and a machine that runs these tests need not have it:
 * its lines are compared with the objects that deploy/kubernetes makes.
 */
const VERBS: Readonly<Record<string, (words: readonly string[]) => void>> = {
  'port-forward': ([pod, ...forwarded]) => {
    expect(pod).toBe('POD');
    expect(forwarded.length).toBeGreaterThan(0);
    expect(ports).toEqual(expect.arrayContaining(forwarded.map(Number)));
  },
  describe: ([kind = '', name, ...more]) => {
    expect([kind, name, more]).toEqual(
      kind === 'certificate' ? ['certificate', undefined, []] : ['pod', 'POD', []],
    );
  },
  // Without -c only where the pod has one container.
  logs: ([pod, ...more]) => {
    expect([pod, containers.length]).toEqual(['POD', 1]);
    for (const word of more) expect(word).toBe('--previous');
  },
};

it('has lines of kubectl for what the deployment makes, and none other', () => {
  expect(lines.length).toBeGreaterThan(4);
  // Without -n: the objects are in whatever namespace they were applied to.
  expect([metadata.name, metadata.namespace]).toEqual(['ratelimit', undefined]);
  for (const line of lines) {
    const [command = ''] = line.split(' | ');
    const [, verb = '', ...words] = wordsOf(command);
    expect([line, Object.keys(VERBS)]).toEqual([line, expect.arrayContaining([verb])]);
    VERBS[verb]?.(words);
  }
});

it('searches the log of a pod for words that workers log', () => {
  const searches = lines.filter((line) => line.includes(' | '));
  expect(searches.length).toBeGreaterThan(0);
  for (const line of searches) {
    const [grep, flag, pattern = ''] = wordsOf(line.split(' | ')[1] ?? '');
    expect([grep, flag]).toEqual(['grep', '-E']);
    const [, head = '', choices = ''] = /^([^(]*)\(([^)]*)\)$/.exec(pattern) ?? [];
    for (const choice of choices.split('|')) expect(workers).toContain(`'${head}${choice}`);
  }
});
