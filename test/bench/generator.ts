import { openGeneratorConnection, type GeneratorConnection } from './generator-connection';
import { createHeaderWriter, createVariedValues } from './generator-headers';
import { createLatencies } from './generator-latency';
import { rateLimitMessage } from './request';

/** What the generator is told, as JSON in its only argument. */
export interface GeneratorOrder {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  /** Calls in flight on each connection; of no meaning when paced. */
  readonly inFlight: number;
  readonly requests: number;
  /** Calls per second over all connections, one after the other; 0: as fast as answers come. */
  readonly perSecond: number;
  /** The key of the descriptor; `user` unless given. */
  readonly key?: string;
  /** Its different values. */
  readonly keys: number;
  /** traceparent and x-request-id, different in every call. */
  readonly varied: boolean;
}

/** What it prints, as JSON. */
export interface GeneratorReport {
  readonly ok: number;
  readonly overLimit: number;
  readonly errors: number;
  readonly seconds: number;
  /** Milliseconds from the write to the answer: p50, p99, p999. */
  readonly latencyMs: readonly [number, number, number];
  /** The same from when the call was due, so that a late generator counts too. */
  readonly sinceDueMs: readonly [number, number, number];
  /** CPU µs of the generator per call. */
  readonly ownMicros: number;
}

/** One call of so many belongs to a trace that is sampled. */
const SAMPLED_EVERY = 100;
const SHARES = [0.5, 0.99, 0.999] as const;
/** Of a paced run, for which times are not recorded. */
const WARM_UP_MS = 1_000;

async function run(order: GeneratorOrder): Promise<GeneratorReport> {
  const { host, port, requests, perSecond, inFlight } = order;
  const outcome = { ok: 0, overLimit: 0, errors: 0 };
  const latencies = createLatencies();
  const sinceDue = createLatencies();
  let sent = 0;
  let done = 0;
  let startMs = 0;
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));

  const source = {
    writeHeaders: () => 0,
    messages: Array.from({ length: order.keys }, (_, i) =>
      rateLimitMessage(order.key ?? 'user', `user-${String(i)}`),
    ),
    outcome,
    onAnswer(dueMs: number, sentMs: number, nowMs: number) {
      if (perSecond > 0 && dueMs - startMs < WARM_UP_MS) return;
      latencies.record((nowMs - sentMs) * 1_000);
      sinceDue.record((nowMs - dueMs) * 1_000);
    },
    onTurn(connection: GeneratorConnection, answered: number) {
      done += answered;
      if (done >= requests) finish();
      else if (perSecond === 0) more(connection, answered);
    },
    // A service of several workers evens its connections out.
    onLeaving(connection: GeneratorConnection) {
      void open().then((next) => {
        connections[connections.indexOf(connection)] = next;
        if (done >= requests) next.end();
        else if (perSecond === 0) more(next, inFlight);
      });
    },
  };
  const more = (connection: GeneratorConnection, count: number) => {
    const now = connection.isLeaving ? 0 : Math.min(count, requests - sent);
    sent += now;
    if (now > 0) connection.send(now, 0);
  };

  const connections: GeneratorConnection[] = [];
  const varied = order.varied ? createVariedValues(SAMPLED_EVERY) : undefined;
  const open = () =>
    openGeneratorConnection(host, port, { ...source, writeHeaders: createHeaderWriter(varied) });
  for (let i = 0; i < order.connections; i++) connections.push(await open());
  const cpu = process.cpuUsage();
  startMs = performance.now();
  if (perSecond > 0) pace(connections, order, startMs);
  else for (const connection of connections) more(connection, inFlight);
  await finished;
  const seconds = (performance.now() - startMs) / 1_000;
  const used = process.cpuUsage(cpu);
  for (const connection of connections) connection.end();
  const errors = done - outcome.ok - outcome.overLimit;
  const [p50, p99, p999] = SHARES;
  const three = (quantile: (share: number) => number) =>
    [quantile(p50), quantile(p99), quantile(p999)] as const;
  return {
    ...outcome,
    errors,
    seconds,
    latencyMs: three(latencies.quantile),
    sinceDueMs: three(sinceDue.quantile),
    ownMicros: (used.user + used.system) / done,
  };
}

/** Our server's limit of streams at once is 1,024, and a proxy keeps to it too. */
const MAX_IN_FLIGHT = 1_000;

/** Sends what is due each millisecond, connection by connection; a connection that is full is passed over. */
function pace(
  connections: readonly GeneratorConnection[],
  { requests, perSecond }: GeneratorOrder,
  startMs: number,
): void {
  let sent = 0;
  let turn = 0;
  const next = () => {
    for (let left = connections.length; left > 0; left--) {
      const connection = connections[turn++ % connections.length];
      if (connection === undefined || connection.isLeaving) continue;
      if (connection.inFlight < MAX_IN_FLIGHT) return connection;
    }
    return undefined;
  };
  const timer = setInterval(() => {
    const due = Math.min(requests, Math.floor(((performance.now() - startMs) * perSecond) / 1_000));
    while (sent < due) {
      const connection = next();
      if (connection === undefined) return;
      connection.send(1, startMs + (sent * 1_000) / perSecond);
      sent += 1;
    }
    if (sent >= requests) clearInterval(timer);
  }, 1);
}

void run(JSON.parse(process.argv[2] ?? '') as GeneratorOrder).then((report) => {
  console.log(JSON.stringify(report));
});
