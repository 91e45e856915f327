import type { IncomingMessage } from 'node:http';
import type { CallHeaders } from '../../core/ports';

/** The header fields of a call. Node alternates names and values. */
export function headersOf({ rawHeaders }: IncomingMessage): CallHeaders {
  const names: string[] = [];
  const values: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    names.push((rawHeaders[i] as string).toLowerCase());
    values.push(rawHeaders[i + 1] as string);
  }
  return { names, values };
}
