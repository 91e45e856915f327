import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

const ROOT = join(__dirname, '../../..');
const FILTER = 'type.googleapis.com/envoy.extensions.filters.http.ratelimit.v3.RateLimit';

type Part = Readonly<Record<string, unknown>>;

/** The mappings in a value, itself and below it. */
function partsOf(value: unknown): readonly Part[] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.values(value).flatMap(partsOf);
  return Array.isArray(value) ? below : [value as Part, ...below];
}

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
    join(folder, file),
  );
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** Whole YAML files, and the YAML that pages show. */
const texts: readonly (readonly [place: string, text: string])[] = [
  ...['examples', 'deploy/kubernetes', 'deploy/prometheus']
    .flatMap(filesBelow)
    .filter((file) => /\.ya?ml$/.test(file))
    .map((file) => [file, read(file)] as const),
  ...['README.md', ...['docs', 'examples'].flatMap(filesBelow)]
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) =>
      [...read(file).matchAll(/^```yaml\n([^]*?)^```/gm)].map(
        ([, block = ''], at) => [`block ${String(at + 1)} of ${file}`, block] as const,
      ),
    ),
];
const configurations = texts
  .map(([place, text]) => ({
    place,
    parts: parseAllDocuments(text).flatMap((document) => partsOf(document.toJS())),
  }))
  .map((each) => ({ ...each, filters: each.parts.filter((part) => part['@type'] === FILTER) }))
  .filter(({ filters }) => filters.length > 0);

it('finds the configurations of Envoy that ask for limits', () => {
  expect(configurations.length).toBeGreaterThan(2);
  expect(configurations.map(({ place }) => place)).toEqual(
    expect.arrayContaining(['examples/envoy/envoy.yaml', 'examples/llm/envoy.yaml']),
  );
});

describe.each(configurations)('the Envoy of $place', ({ place, parts, filters }) => {
  it('tells gRPC clients of a limit by RESOURCE_EXHAUSTED', () => {
    for (const filter of filters) expect(filter['rate_limited_as_resource_exhausted']).toBe(true);
  });

  it('asks about more requests at once than the breaker of Envoy admits by default', () => {
    const asked = filters
      .flatMap(partsOf)
      .flatMap(({ cluster_name: name }) => (typeof name === 'string' ? [name] : []));
    expect(asked).not.toEqual([]);
    for (const name of asked) {
      // The clusters of Istio admit 2^32 - 1 requests.
      if (name.startsWith('outbound|')) continue;
      const clusters = parts.filter((part) => part['name'] === name && 'load_assignment' in part);
      expect([place, clusters.map((cluster) => cluster['circuit_breakers'])]).toEqual([
        place,
        [{ thresholds: [{ max_requests: 100_000, max_pending_requests: 100_000 }] }],
      ]);
    }
  });
});
