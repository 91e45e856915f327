/** Where StatsD listens. */
export interface StatsdTarget {
  readonly host: string;
  readonly port: number;
  /** Longest wait for a connection (TCP), and for one datagram to be taken (UDP). */
  readonly timeoutMs: number;
  /** Longest wait for one write to be taken (TCP), in milliseconds; 60,000 unless told otherwise. */
  readonly stuckMs?: number;
}

export function nameOf(protocol: 'tcp' | 'udp', { host, port }: StatsdTarget): string {
  const authority = host.includes(':') ? `[${host}]` : host;
  return `${protocol}://${authority}:${port.toString()}`;
}
