/** Why a request gets no decision, as it is written to the caller. */
export interface Refusal {
  readonly status: number;
  readonly body: {
    /** A lowercase sentence that says what is wrong and what was expected. */
    readonly error: string;
    /** Stable, for programs. */
    readonly code: string;
    readonly where?: string;
    readonly line?: number;
    readonly column?: number;
  };
  readonly headers?: Readonly<Record<string, string>>;
}

export function refusal(
  status: number,
  code: string,
  error: string,
  headers: Readonly<Record<string, string>> = {},
): Refusal {
  return { status, body: { error, code }, headers };
}
