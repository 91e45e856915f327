import { getSystemErrorMap } from 'node:util';

/** Where to listen: a TCP address (port 0: any free one) or the path of a Unix socket. */
export type ListenAddress =
  { readonly host: string; readonly port: number } | { readonly path: string };

export function addressText(address: ListenAddress): string {
  if ('path' in address) return `unix:${address.path}`;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `${host}:${String(address.port)}`;
}

export interface AddressSettings {
  readonly host: string;
  readonly port: string;
  readonly path?: string;
}

/** Faults of the host; all others are faults of a port. */
const HOST_FAULTS: ReadonlySet<unknown> = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN']);

/** An address that cannot be listened on: `cannot listen on 0.0.0.0:8081 (GRPC_PORT): address already in use`. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  readonly address: ListenAddress;
  override readonly cause: Error;

  constructor(address: ListenAddress, cause: Error, setting?: string) {
    const from = setting === undefined ? '' : ` (${setting})`;
    super(`cannot listen on ${addressText(address)}${from}: ${reasonOf(cause)}`);
    this.address = address;
    this.cause = cause;
  }

  /** The same error with the name of the setting to change. */
  from({ host, port, path = port }: AddressSettings): ListenError {
    const { address, cause } = this;
    const { code } = cause as NodeJS.ErrnoException;
    const tcp = HOST_FAULTS.has(code) ? host : port;
    return new ListenError(address, cause, 'path' in address ? path : tcp);
  }
}

/** Listens; an unavailable address is an error that names its setting. */
export async function listenAt<A>(
  listener: { listen(): Promise<A> },
  settings: AddressSettings,
): Promise<A> {
  try {
    return await listener.listen();
  } catch (error) {
    throw error instanceof ListenError ? error.from(settings) : error;
  }
}

/** The system's words for an error number, without the name of the call and the address. */
function reasonOf({ errno, message }: NodeJS.ErrnoException): string {
  return (errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1]) ?? message;
}
