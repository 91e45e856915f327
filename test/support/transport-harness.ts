import { createSnapshot, type HealthStatus } from '../../streams';
import type { Decision, DecisionRequest } from '../../src/core/model';
import type { Answer, PendingRequest, Statistics } from '../../src/core/ports';
import type { GrpcTransportDeps, GrpcTransportOptions } from '../../src/transport/grpc/options';
import { addressText, type ListenAddress } from '../../src/platform/listen-address';
import type { Transport } from '../../src/transport/listener';

export type CreateGrpcTransport = (
  deps: GrpcTransportDeps,
  options: GrpcTransportOptions,
) => Transport;

/** What the script says to a request: an answer at once, or undefined to keep it waiting. */
export type Script = (request: DecisionRequest) => Answer | undefined;

export const SERVING: HealthStatus<string> = { serving: true, down: [] };
export const OK: Decision = {
  kind: 'decision',
  overallCode: 'OK',
  statuses: [],
  responseHeaders: [],
  dynamicMetadata: undefined,
};

/** Statistics that remember what was counted. */
export function recordingStatistics() {
  const counts = new Map<string, number>();
  const times = new Map<string, number>();
  const statistics: Statistics = {
    count: (name, by) => {
      counts.set(name, (counts.get(name) ?? 0) + by);
    },
    time: (name, milliseconds, howOften) => {
      if (milliseconds >= 0) times.set(name, (times.get(name) ?? 0) + howOften);
    },
    gauge: () => () => undefined,
  };
  return { statistics, counts, times };
}

/** Everything that was asked of a transport, answered by a script. */
export function answering(transport: Transport, script: Script) {
  const batches: (readonly PendingRequest[])[] = [];
  const waiting: PendingRequest[] = [];
  const completed: string[] = [];
  transport.requests$.subscribe({
    next: (batch) => {
      batches.push(batch);
      for (const pending of batch) {
        const answer = script(pending.request);
        if (answer === undefined) waiting.push(pending);
        else pending.responder.answer(pending.callId, answer);
      }
    },
    complete: () => completed.push('questions$'),
  });
  transport.run$.subscribe({ complete: () => completed.push('run$') });
  return {
    batches,
    waiting,
    completed,
    requests: () => batches.flat().map(({ request }) => request),
  };
}

/** A listening transport around a script. */
export async function startTransport(
  create: CreateGrpcTransport,
  script: Script = () => OK,
  options: Partial<GrpcTransportOptions> = {},
) {
  const health = createSnapshot<HealthStatus<string>>(SERVING);
  const { statistics, counts, times } = recordingStatistics();
  const transport = create(
    { health, statistics, nowMs: () => jest.now() },
    { address: { host: '127.0.0.1', port: 0 }, ...options },
  );
  const asked = answering(transport, script);
  const bound: ListenAddress = await transport.listen();
  return { ...asked, transport, health, counts, times, address: addressText(bound) };
}
