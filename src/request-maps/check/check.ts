import type { ProxyHops } from '../../platform/proxy-hops';
import type { MapDescriptor, RequestField } from '../request-map';
import type { PathStyle } from '../request-uri';

/** One configuration of `/check`: how an HTTP call becomes a request, and how it is answered (docs/proxies/README.md). */
export interface Check {
  readonly domain: string;
  /** Undefined: no proxy, so that the peer is the client. */
  readonly proxy: ProxyName | undefined;
  /** The trusted proxies. */
  readonly hops: ProxyHops;
  readonly deniedStatus: number;
  /** The status of a call with a value too long for a pattern. */
  readonly tooLongStatus: number;
  /** The answer to a call without a decision. */
  readonly onError: 'allow' | 'deny';
  /** Answers name rules by their metric keys. */
  readonly showRule: boolean;
  /** The header with the number of hits of a call; undefined: one. */
  readonly hitsHeader: string | undefined;
  readonly descriptors: readonly MapDescriptor[];
  /** The headers without which the proxy is not set up as this check needs it. */
  readonly neededHeaders: readonly string[];
  /** Whether the map reads the host, without which a call makes no descriptor of it. */
  readonly needsHost: boolean;
  /** Whether the map reads the header Host by its name. */
  readonly readsHostHeader: boolean;
}

/** All current checks, by their names; that of a single file has the name ''. */
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

/** The header in which a proxy sends each field; undefined: it does not. */
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
 * Exactly the headers that each proxy always writes (docs/proxies/README.md): each proxy forwards a client's headers with the names of the
 * others.
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
