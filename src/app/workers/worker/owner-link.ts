import { createMailbox, createSnapshot } from '../../../../streams';
import { compileInSlices, type CompileOptions } from '../../../core/rules/compile';
import type { Rules } from '../../../core/rules/rules';
import type { FoundZone } from '../../../core/windows/zone-data';
import type { RequestBounds } from '../../../core/decision/request';
import type { CheckSet } from '../../../request-maps/check';
import { parseCheckFiles } from '../../../rule-sources/check-files';
import { createAssembly } from '../../../rule-sources/loader/chunks';
import { inSlices } from '../../../rule-sources/loader/rule-loader';
import type { TlsPems } from '../../../transport/grpc/options';
import type { ServiceHealth } from '../../observe/health';
import type { Certificates } from '../../tls/certificates';
import type { FromWorker, ToWorker, ProfileResult } from '../messages';
import type { Clock } from '../../../core/ports';
import { toReason } from '../../../platform/errors';
import { takeOwnProfile } from '../../../transport/debug/profile-endpoint';
import { createWorkScheduler } from '../../../transport/debug/work/work-scheduler';

/** The worker's handlers for messages of its owner. */
type Handlers = {
  readonly [K in ToWorker['kind']]: (message: Extract<ToWorker, { readonly kind: K }>) => void;
};

/** The messages that change no value that the worker reads. */
type Duty = 'collect' | 'watch' | 'profile' | 'count-connections' | 'keep-connections' | 'drain';

/** Actions that the owner's messages trigger, beyond the values that they set. */
interface WorkerDuties extends Pick<Handlers, Duty> {
  /** The first message, in answer to `hello`. */
  readonly start: (components: readonly string[], certificates: Certificates | undefined) => void;
}

/** Entries compiled per slice: a fraction of a millisecond. */
const SLICE = 500;

/** The owner as a worker sees it: its messages, as the values that a decider reads. */
export function createOwnerLink(
  send: (message: FromWorker) => unknown,
  { start, ...duties }: WorkerDuties,
  options: CompileOptions & { readonly bounds: RequestBounds },
) {
  const rules = createSnapshot<Rules | undefined>(undefined);
  const isRead = createSnapshot(false);
  const checks = createSnapshot<CheckSet | undefined>(undefined);
  const whyNoRules = createSnapshot('no rules are loaded yet');
  const health = createSnapshot<ServiceHealth>({ serving: false, down: ['start'], ignored: [] });
  const renewals = createMailbox<TlsPems>();
  let assembly = createAssembly();
  let zones = new Map<string, FoundZone>();
  let compiling = Promise.resolve();

  const compile = async (number: number, { domains }: typeof assembly, found: typeof zones) => {
    // The owner sent all zones of the rules.
    const findZone = (timeZone: string) => found.get(timeZone) as FoundZone;
    rules.set(await inSlices(compileInSlices(domains, SLICE, { ...options, findZone })));
    isRead.set(true);
    send({ kind: 'in-force', number });
  };
  const certificatesOf = (first: TlsPems | undefined): Certificates | undefined =>
    first && { first, renewals$: renewals.messages$, close: renewals.close };
  const handlers: Handlers = {
    ...duties,
    welcome({ components, certificates }) {
      start(components, certificatesOf(certificates));
    },
    zone({ name, zone }) {
      zones.set(name, zone);
    },
    'rules-part'({ chunk }) {
      assembly.add(chunk);
    },
    rules({ number }) {
      const [whole, found] = [assembly, zones];
      assembly = createAssembly();
      zones = new Map();
      // One set after another, in the order of arrival.
      compiling = compiling.then(() => compile(number, whole, found));
    },
    checks({ from }) {
      checks.set(parseCheckFiles(from, options.bounds).set);
    },
    read() {
      isRead.set(true);
    },
    'no-rules'({ reason }) {
      whyNoRules.set(reason);
    },
    health({ status }) {
      health.set(status);
    },
    certificates({ pems }) {
      renewals.post(pems);
    },
  };

  return {
    rules,
    whyNoRules,
    checks,
    isRead,
    health,
    take(message: ToWorker) {
      const handle = handlers[message.kind] as (message: ToWorker) => void;
      handle(message);
    },
    /** Completes the streams. */
    close() {
      health.close();
      rules.close();
      checks.close();
      whyNoRules.close();
      isRead.close();
    },
  };
}

interface ProfileDutyDeps {
  readonly clock: Clock;
  readonly monotonicMs: () => number;
}

/** Takes profiles of this worker for its owner, beside its decisions; each request ends the previous profile. */
export function createProfileDuty(
  send: (message: FromWorker) => unknown,
  { clock, monotonicMs }: ProfileDutyDeps,
): WorkerDuties['profile'] {
  const work = createWorkScheduler({ monotonicMs });
  let running = new AbortController();
  return ({ id, request }) => {
    running.abort();
    if (request === undefined) return;
    running = new AbortController();
    const { signal } = running;
    const answer = (result: ProfileResult) => send({ kind: 'profile', id, result });
    work.insist({
      *run() {
        answer(yield* takeOwnProfile(request, signal, clock));
      },
      // The owner does not wait for one that it has ended.
      isWanted: () => !signal.aborted,
      failed(error) {
        answer(toReason(error));
      },
    });
  };
}
