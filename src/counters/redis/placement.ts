import { type ServerAnswers } from './probe-server';
import { type RedisCountersDeps } from './options';
import { WrongKindError, type TypeSetting, type WrongKind } from './wrong-kind';

/** Checks whether a server of a store is what the settings say; an event reports changes. */
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
  /** The reason for a server that is not in use is its last failure. */
  const noteFailure = (error: unknown): void => {
    if (error instanceof WrongKindError) misplace(error, false);
    else if (misplaced?.isUsed === false) place();
  };
  /** It shows so by this answer; returns the message for it. */
  const onMisplaced = (kind: WrongKind, answer: string): string => {
    const error = new WrongKindError(kind, typeSetting, answer);
    misplace(error, kind === 'cluster');
    return error.message;
  };
  return {
    onMisplaced,
    /** A store of several servers looked for what it needs; each server failed with one of these errors. */
    onFailed(errors: readonly unknown[]) {
      noteFailure(errors.find((error) => error instanceof WrongKindError));
    },
    /** It found it. */
    onFound: place,
    /** Connecting failed with this error. */
    onRefused(error: unknown) {
      const { cause } = Object(error) as { readonly cause?: unknown };
      noteFailure(cause);
    },
    /** Its answers on a new connection. */
    onAnswers({ moved, takesAll }: Pick<ServerAnswers, 'moved' | 'takesAll'>) {
      const isOther = misplaced?.isUsed === false && misplaced.kind !== 'replica';
      if (moved !== undefined) onMisplaced('cluster', moved);
      else if (takesAll || isOther) place();
    },
    /** It has answered a batch without saying that it is a replica. */
    onServed: () => {
      if (misplaced?.kind === 'replica') place();
    },
  };
}
