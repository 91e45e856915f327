import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');
const PINNED = /^[a-z/]+:v?\d+\.\d+\.\d+(?:-[a-z0-9-]+)?@sha256:[0-9a-f]{64}$/;

it.each([
  ['Dockerfile', /^ARG NODE_IMAGE=(.+)$/gm, 1],
  ['docker-compose.yml', /^ +image: (.+)$/gm, 1],
  ['examples/identity/docker-compose.yml', /^ +image: (.+)$/gm, 2],
  ['examples/envoy/docker-compose.yml', /^ +image: (.+)$/gm, 4],
  // Of its Envoy it says that the digest is the reader's.
  ['examples/llm/docker-compose.yml', /^ +image: ((?!envoyproxy).+)$/gm, 2],
  ['deploy/kubernetes/overlays/redis/redis.yaml', /^ +image: (.+)$/gm, 1],
])('names every image of %s by its full version and its digest', (file, pattern, count) => {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const images = [...text.matchAll(pattern)].map(([, image = '']) => image);
  expect(images).toHaveLength(count);
  for (const image of images) expect(image).toMatch(PINNED);
});

it('has every command of the package in /bin, but for the one that is npx alone', () => {
  const manifest = readFileSync(join(ROOT, 'package.json'), 'utf8');
  const { bin } = JSON.parse(manifest) as { readonly bin: Readonly<Record<string, string>> };
  const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  const links = [...dockerfile.matchAll(/ln -s \/app\/(\S+) \/bin\/(\S+)/g)];
  const { weir, ...commands } = bin;
  expect(weir).toBeDefined();
  expect(Object.fromEntries(links.map(([, file, name]) => [name, file]))).toEqual(commands);
});

it('builds every stage of the image on that one', () => {
  const text = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
  const stages = [...text.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
  expect(stages).toEqual(['${NODE_IMAGE}', '${NODE_IMAGE}']);
});
