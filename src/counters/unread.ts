import { type StoreError } from '../core/errors';
import { type CounterReading } from '../core/ports';

export function unread(store: string, error: StoreError): CounterReading {
  return { count: 0, expiresInSeconds: undefined, store, error };
}
