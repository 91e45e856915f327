/**
 * A kind in Lua, as far as a write needs it: pieces that `counters/redis/lua-kinds.ts` puts into its functions. They see
 * `order` (what is asked: `limit`, `size`, `capacity`, `period` and `micros` of a tick, `now`, `hits`, `cost`) and the state
 * `used`, `previous`, `elapsed`, which is 0, 0, 0 at first, and `isAstray`: whether a clock that was wrong has written it
 * (`astray` are the fewest ticks since, and `latest` the last tick, that a clock may have written that is right).
 */
export interface KindLua {
  /** Statements that make the state of the text `value`; `NOT_OURS()` where no counter of this kind says that. */
  readonly decode: string;
  /** Statements that make the state where there is no value. */
  readonly absent: string;
  /** Which figures of the state besides `used` are not always 0. */
  readonly has: { readonly previous: boolean; readonly elapsed: boolean };
  /** An expression: units that are free. */
  readonly free: string;
  /** An expression: units of one hit. */
  readonly unit: string;
  /** The figures are a list of any length, `previous`, packed (see `LOG_LUA`). */
  readonly isLog?: boolean;
  /** Of an own form; undefined: the value is a count, which INCRBY changes. */
  readonly own?: OwnLua;
}

export interface OwnLua {
  /** Names of the figures that are kept: 2 or 3, whole numbers; none of a log. */
  readonly kept: readonly string[];
  /** Statements that make the state of these figures; `NOT_OURS()` where no counter of this kind says that. */
  readonly advance: string;
  /** An expression for each of these figures. */
  readonly figures: readonly string[];
  /** An expression: the most units that a debt may come to. */
  readonly most: string;
  /** An expression: the text of the figures. */
  readonly encode: string;
  /** An expression: ticks for which the counter is kept. */
  readonly life: string;
  /** Statements that take `hits` back which were charged at `tick`, in the window of that tick; never more than is left of them. */
  readonly undo: string;
  /** An expression, once for each order: what `encode` needs in `order.ready`. */
  readonly ready?: string;
  /**
   * An expression: whether `text` may overwrite `value` in place, which keeps its time to live; `isSame` says that `decode`
   * found the window of now.
   */
  readonly inPlace?: string;
}

/** See KindLua.decode: figures with a space between them. */
export function decodeFigures({ kept, advance }: Pick<OwnLua, 'kept' | 'advance'>): string {
  const names = kept.join(', ');
  return `
    local _, _, ${names} = find(value, '^${kept.map(() => '(%d+)').join(' ')}$')
    ${names} = ${kept.map((name) => `tonumber(${name})`).join(', ')}
    if not ${String(kept.at(-1))} then NOT_OURS() end${advance}`;
}
