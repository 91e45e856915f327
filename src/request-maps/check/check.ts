import type { ProxyHops } from '../../platform/proxy-hops';
import type { MapDescriptor, RequestField } from '../request-map';
import type { PathStyle } from '../request-uri';

/** One way to ask over HTTP, with `/check`: how a call becomes a request, and how it is answered (docs/check.md). */
export interface Check {
  readonly domain: string;
  /** Undefined: no proxy, so that the peer is the client. */
  readonly proxy: ProxyName | undefined;
  /** Whose words count. */
  readonly hops: ProxyHops;
  readonly deniedStatus: number;
  /** The status of a call of which a value is too long for a pattern. */
  readonly tooLongStatus: number;
  /** What a call is answered for which there is no decision. */
  readonly onError: 'allow' | 'deny';
  /** Answers name rules by their metric keys. */
  readonly showRule: boolean;
  /** The header that says how many hits a call costs; undefined: one. */
  readonly hitsHeader: string | undefined;
  readonly descriptors: readonly MapDescriptor[];
  /** The headers without which the proxy is not set up as this check needs it. */
  readonly neededHeaders: readonly string[];
  /** Whether the map reads the host, without which a call makes no descriptor of it. */
  readonly needsHost: boolean;
}

/** All checks of a moment, by their names; that of a single file has the name ''. */
export interface CheckSet {
  readonly checks: ReadonlyMap<string, Check>;
  readonly from: CheckSources;
}

export interface CheckSources {
  readonly files: readonly CheckSource[];
  /** CHECK_CONFIG is a directory, so that each check has the name of its file. */
  readonly isDirectory: boolean;
}

export interface CheckSource {
  readonly file: string;
  readonly bytes: Uint8Array;
}

export const PROXIES = ['nginx', 'ingress-nginx', 'traefik', 'caddy'] as const;

export type ProxyName = (typeof PROXIES)[number];

/** Where a proxy says each field; undefined: it does not. */
export type ProxyWords = Readonly<Record<RequestField, string | undefined>>;

const FORWARD_AUTH: ProxyWords = {
  method: 'x-forwarded-method',
  path: 'x-forwarded-uri',
  query: 'x-forwarded-uri',
  host: 'x-forwarded-host',
  scheme: 'x-forwarded-proto',
  remote_address: 'x-forwarded-for',
};

/**
 * Exactly the headers that each proxy always writes (docs/check.md): every one of them passes on what a client wrote under the
 * names of the others.
 */
export const WORDS: Readonly<Record<ProxyName, ProxyWords>> = {
  nginx: {
    method: 'x-original-method',
    path: 'x-original-uri',
    query: 'x-original-uri',
    host: 'host',
    scheme: undefined,
    remote_address: 'x-real-ip',
  },
  'ingress-nginx': {
    method: 'x-original-method',
    path: 'x-original-url',
    query: 'x-original-url',
    host: 'x-original-url',
    scheme: 'x-original-url',
    remote_address: 'x-real-ip',
  },
  traefik: FORWARD_AUTH,
  caddy: FORWARD_AUTH,
};

/** How each proxy compares paths. */
export const STYLES: Readonly<Record<ProxyName, PathStyle>> = {
  nginx: 'exact',
  'ingress-nginx': 'exact',
  traefik: 'exact',
  caddy: 'caddy',
};
