/**
 * A kind in Lua, as far as writes need it: fragments that `counters/redis/lua-kinds.ts` puts into its functions. They read `order`
 * (the charge: `limit`, `size`, `capacity`, `period` and `micros` of a tick, `now`, `hits`, `cost`) and the state `used`,
 * `previous`, `elapsed`, initially 0, 0, 0, and `isAstray`: whether a wrong clock wrote it (`astray` is the fewest ticks since, and
 * `latest` the last tick, that a correct clock may have written).
 */
export interface KindLua {
  /** Statements that decode the text `value` into the state; `NOT_OURS()` where it is not a counter of this kind. */
  readonly decode: string;
  /** Statements that make the state of a missing value. */
  readonly absent: string;
  /** Which fields of the state besides `used` may differ from 0. */
  readonly has: { readonly previous: boolean; readonly elapsed: boolean };
  /** An expression: free units. */
  readonly free: string;
  /** An expression: units per hit. */
  readonly unit: string;
  /** The state is a packed list of any length in `previous` (see `LOG_LUA`). */
  readonly isLog?: boolean;
  /** For records; undefined: the value is a count, which INCRBY changes. */
  readonly record?: RecordLua;
}

export interface RecordLua {
  /** Names of the stored figures: 2 or 3 whole numbers; none for a log. */
  readonly kept: readonly string[];
  /** Statements that make the state from these figures; `NOT_OURS()` where they are not a counter of this kind. */
  readonly advance: string;
  /** An expression for each of these figures. */
  readonly figures: readonly string[];
  /** An expression: the largest debt, in units. */
  readonly most: string;
  /** An expression: the stored text of the figures. */
  readonly encode: string;
  /** An expression: lifetime of the counter in ticks. */
  readonly life: string;
  /** Statements that refund `hits` charged at `tick` to the window of that tick; at most what is left of them. */
  readonly undo: string;
  /** An expression, evaluated once per order: what `encode` needs in `order.ready`. */
  readonly ready?: string;
  /**
   * An expression: whether `text` may overwrite `value` in place, which keeps its time to live; `isSame`: `decode` found the
   * current window.
   */
  readonly inPlace?: string;
}

/** See KindLua.decode: figures separated by a space. */
export function decodeFigures({ kept, advance }: Pick<RecordLua, 'kept' | 'advance'>): string {
  const names = kept.join(', ');
  return `
    local _, _, ${names} = find(value, '^${kept.map(() => '(%d+)').join(' ')}$')
    ${names} = ${kept.map((name) => `tonumber(${name})`).join(', ')}
    if not ${String(kept.at(-1))} then NOT_OURS() end${advance}`;
}
