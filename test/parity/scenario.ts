import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A recorded scenario: see "Recorded answers" in docs/internals/testing.md. */
export interface Scenario {
  readonly name: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly rules: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
  readonly stats?: Readonly<Record<string, number>>;
  readonly statsIgnore?: readonly string[];
  readonly wire?: readonly WireLine[];
  readonly pull?: Scrape;
}

export interface Step {
  readonly at: number;
  readonly request?: ProtoRequest;
  readonly response?: object;
  readonly error?: object;
  readonly http?: { readonly method: string; readonly path: string; readonly body?: string };
  readonly status?: number;
  readonly contentType?: string;
  readonly body?: unknown;
  readonly health?: string;
  readonly debug?: string;
  readonly lines?: readonly string[];
  readonly reload?: Readonly<Record<string, string | null>>;
  readonly loads?: 'success' | 'error';
  readonly keys: Readonly<Record<string, string>>;
  /** What changed in the store for limits per second, where there is one. */
  readonly perSecondKeys?: Readonly<Record<string, string>>;
  readonly ttl: Readonly<Record<string, readonly [number, number]>>;
  readonly loose?: readonly string[];
}

/** A RateLimitRequest in proto3 JSON. */
export interface ProtoRequest {
  readonly descriptors?: readonly { readonly hitsAddend?: string | number }[];
}

/** What reached the statistics server under one name and type. */
export interface WireLine {
  readonly name: string;
  readonly type: string;
  readonly tags?: readonly string[];
  readonly total?: number;
  readonly count?: number;
}

/** A scrape: samples by name and labels, types by name. */
export interface Scrape {
  readonly samples: Readonly<Record<string, number>>;
  readonly types: Readonly<Record<string, string>>;
}

export const VECTORS = join(__dirname, 'vectors');

/** Every scenario of every file but the rule checker's, whose shape is another. */
export function readScenarios(): readonly (readonly [title: string, scenario: Scenario])[] {
  return readdirSync(VECTORS)
    .filter((file) => file !== 'rule-files.json')
    .flatMap((file) => {
      const scenarios = JSON.parse(readFileSync(join(VECTORS, file), 'utf8')) as Scenario[];
      return scenarios.map((scenario) => [`${file}: ${scenario.name}`, scenario] as const);
    });
}

export function isOfMemcached({ settings }: Scenario): boolean {
  return settings['BACKEND_TYPE'] === 'memcache';
}

/** Whether limits per second have a store of their own. */
export function isSplit({ settings }: Scenario): boolean {
  return settings['REDIS_PERSECOND'] === 'true';
}
