import { createMailbox, createSnapshot, type HealthStatus, type Snapshot } from '../../../streams';
import { compileInSlices, type CompileOptions } from '../../core/rules/compile';
import type { Rules } from '../../core/rules/rules';
import { createAssembly } from '../../rule-sources/loader/chunks';
import { inSlices } from '../../rule-sources/loader/rule-loader';
import type { TlsPems } from '../../transport/grpc/options';
import type { Certificates } from '../tls/create-certificates';
import type { FromWorker, ToWorker } from './messages';

/** What a worker does on the word of its owner. */
export interface WorkerDuties {
  /** The first message, in answer to `hello`. */
  readonly start: (components: readonly string[], certificates: Certificates | undefined) => void;
  readonly collect: (id: number) => void;
  readonly watch: (isOn: boolean) => void;
  readonly drain: (withinMs: number) => void;
}

/** The owner as a worker sees it: what it sends, as the values that a decider reads. */
export interface OwnerLink {
  readonly rules: Snapshot<Rules | undefined>;
  readonly isRead: Snapshot<boolean>;
  readonly health: Snapshot<HealthStatus<string>>;
  take(message: ToWorker): void;
  /** Completes the streams. */
  close(): void;
}

/** Entries compiled in one go: a fraction of a millisecond. */
const SLICE = 500;

export function createOwnerLink(
  send: (message: FromWorker) => unknown,
  duties: WorkerDuties,
  options: CompileOptions,
): OwnerLink {
  const rules = createSnapshot<Rules | undefined>(undefined);
  const isRead = createSnapshot(false);
  const health = createSnapshot<HealthStatus<string>>({ serving: false, down: ['start'] });
  const renewals = createMailbox<TlsPems>();
  let assembly = createAssembly();
  let compiling = Promise.resolve();

  const compile = async (number: number, { parsed }: typeof assembly): Promise<void> => {
    rules.set(await inSlices(compileInSlices(parsed.domains, SLICE, options)));
    isRead.set(true);
    send({ kind: 'in-force', number });
  };
  const certificatesOf = (first: TlsPems | undefined): Certificates | undefined =>
    first && { first, renewals$: renewals.messages$, close: renewals.close };

  return {
    rules,
    isRead,
    health,
    take(message) {
      switch (message.kind) {
        case 'welcome':
          duties.start(message.components, certificatesOf(message.certificates));
          return;
        case 'rules-part':
          assembly.add(message.chunk);
          return;
        case 'rules': {
          const whole = assembly;
          assembly = createAssembly();
          // One set after another, in the order in which they came.
          compiling = compiling.then(() => compile(message.number, whole));
          return;
        }
        case 'read':
          isRead.set(true);
          return;
        case 'health':
          health.set(message.status);
          return;
        case 'certificates':
          renewals.post(message.pems);
          return;
        case 'collect':
          duties.collect(message.id);
          return;
        case 'watch':
          duties.watch(message.isOn);
          return;
        case 'drain':
          duties.drain(message.withinMs);
      }
    },
    close() {
      health.close();
      rules.close();
      isRead.close();
    },
  };
}
