/** A descriptor as the protocol's JSON names it. */
export interface Descriptor {
  readonly entries: readonly { readonly key: string; readonly value: string }[];
}

/** Paths of PEM files; undefined ones are left to the system. */
export interface TlsOptions {
  readonly caCert: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  /** The name that the certificate must bear, when it is not the host that is dialled. */
  readonly serverName: string | undefined;
}

/** What the command line asked for. */
export interface ClientOptions {
  /** `host:port` or `unix:/path`. */
  readonly dialString: string;
  readonly domain: string;
  readonly descriptors: readonly Descriptor[];
  /** uint32; 0: the service's default, one hit. */
  readonly hitsAddend: number;
  readonly timeoutMs: number;
  /** Print proto3 JSON instead of lines for people. */
  readonly json: boolean;
  /** Undefined: plain text. */
  readonly tls: TlsOptions | undefined;
}

/** A command line that asks for nothing that can be done. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code = 'usage';
}
