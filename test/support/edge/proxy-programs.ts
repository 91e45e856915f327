import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findTool, goToolOrNothing } from './grpc-tools';

export interface ProxyProgram {
  /** Undefined where it cannot be had, said in one line. */
  readonly find: () => string | undefined;
  /** Below examples/. */
  readonly file: string;
  /** Its arguments; `file` is the configuration, `folder` one that it may write into. */
  readonly words: (file: string, folder: string) => readonly string[];
}

/** The proxies of the examples, each with a configuration of the same names and ports. */
export const PROXY_PROGRAMS = {
  nginx: {
    find: () => findTool('nginx', 'nginx-light'),
    file: 'nginx/nginx.conf',
    words: (file, folder) => [
      ...['-p', folder, '-c', file, '-e', 'stderr'],
      ...['-g', `daemon off; pid ${folder}/pid;`],
    ],
  },
  caddy: {
    find: () => goToolOrNothing('github.com/caddyserver/caddy/v2/cmd/caddy@v2.10.2'),
    file: 'caddy/Caddyfile',
    words: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
} as const satisfies Readonly<Record<string, ProxyProgram>>;

const BUILT_CADDY = join(__dirname, '../../../.cache/bin/caddy');

/**
 * The program of a proxy for a test. Caddy takes minutes to compile: its tests are left out, with a word about it, before
 * `npm run test:caddy` has built it.
 */
export function findProxy(name: keyof typeof PROXY_PROGRAMS): string | undefined {
  const isWanted = process.env['WITH_CADDY'] !== undefined || existsSync(BUILT_CADDY);
  if (name !== 'caddy' || isWanted) return PROXY_PROGRAMS[name].find();
  process.stderr.write('tests are left out: Caddy is not built, see npm run test:caddy\n');
  return undefined;
}

export interface ProxyPlaces {
  readonly proxy: number;
  readonly upstream: number;
  /** The service, `host:port`. */
  readonly weir: string;
}

/** The configuration of an example, with the addresses of this machine in place of those of its composition. */
export function toProxyConfig(text: string, { proxy, upstream, weir }: ProxyPlaces): string {
  return text
    .replaceAll('weir:8080', weir)
    .replaceAll('8001', String(upstream))
    .replaceAll(/(listen |:)8000/g, `$1${String(proxy)}`);
}
