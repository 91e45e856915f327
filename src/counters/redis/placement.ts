import { type ServerAnswers } from './ask-server';
import { type RedisCountersDeps } from './options';
import { WrongKindError, type TypeSetting, type WrongKind } from './wrong-kind';

/** Whether a server of a store is what the settings say; an event tells when that changes. */
export function createPlacement(
  { onEvent }: { readonly onEvent?: RedisCountersDeps['onEvent'] | undefined },
  store: string,
  typeSetting: TypeSetting | undefined,
) {
  let misplaced: { readonly kind: WrongKind; readonly isUsed: boolean } | undefined;

  const misplace = ({ kind, advice, message: reason }: WrongKindError, isUsed: boolean): void => {
    if (misplaced?.kind === kind && misplaced.isUsed === isUsed) return;
    misplaced = { kind, isUsed };
    onEvent?.({ kind: 'misplaced', store, reason, advice, isUsed });
  };
  const place = (): void => {
    if (misplaced === undefined) return;
    misplaced = undefined;
    onEvent?.({ kind: 'placed', store });
  };
  /** It says so by this answer; returns what to say of it. */
  const onMisplaced = (kind: WrongKind, answer: string): string => {
    const error = new WrongKindError(kind, typeSetting, answer);
    misplace(error, kind === 'cluster');
    return error.message;
  };
  return {
    onMisplaced,
    /** Where a store of several servers looked for what it needs, and failed with this error. */
    onFailed(error: unknown) {
      if (error instanceof WrongKindError) misplace(error, false);
    },
    /** It found it. */
    onFound: place,
    /** It was not connected to for this error. */
    onRefused(error: unknown) {
      const { cause } = Object(error) as { readonly cause?: unknown };
      if (cause instanceof WrongKindError) misplace(cause, false);
    },
    /** What it answered on a new connection. */
    onAnswers({ moved, takesAll }: Pick<ServerAnswers, 'moved' | 'takesAll'>) {
      const isOther = misplaced?.isUsed === false && misplaced.kind !== 'replica';
      if (moved !== undefined) onMisplaced('cluster', moved);
      else if (takesAll || isOther) place();
    },
    /** It has answered a batch, and did not say that it is a replica. */
    onServed: () => {
      if (misplaced?.kind === 'replica') place();
    },
  };
}
