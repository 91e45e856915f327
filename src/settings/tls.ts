import type { Findings, Reading } from '../platform/env-table/read-table';
import type { Setting } from '../platform/env-table/setting';

/** Paths of PEM files of a TLS client. Certificate and key come together or not at all. */
export interface TlsFiles {
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  /** Undefined: the authorities that Node trusts. */
  readonly caFile: string | undefined;
}

type TlsTable = Readonly<Record<keyof TlsFiles, Setting<string | undefined>>>;

/** The files of a client's TLS; half a pair of certificate and key is a problem. */
export function readTlsFiles(reading: Reading<TlsTable>, findings: Findings): TlsFiles {
  const { certFile, keyFile, caFile } = reading.values;
  for (const [has, lacks] of [
    ['certFile', 'keyFile'],
    ['keyFile', 'certFile'],
  ] as const) {
    if (reading.isSet(has) && !reading.isSet(lacks)) {
      findings.problems.push(
        `${reading.shown(has)}: expected ${reading.shown(lacks)} to be set too`,
      );
    }
  }
  return { certFile, keyFile, caFile };
}
