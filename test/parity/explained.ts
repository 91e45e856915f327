import type { Explanation } from '../../src/core/explain/explanation';
import type { Step } from './scenario';

export interface Explained {
  readonly status: number;
  readonly body: Partial<Explanation>;
}

interface Status {
  readonly code?: string;
  readonly currentLimit?: object;
  readonly limitRemaining?: number;
  readonly durationUntilReset?: string;
}

interface Answer {
  readonly overallCode?: string;
  readonly statuses?: readonly Status[];
}

/** Explain said beforehand what was answered: the overall code, and of each descriptor code, remaining and reset. */
export function expectAgreement(
  { status, body }: Explained,
  answer: Partial<Step>,
  index: number,
): void {
  const given = (answer.response ?? answer.body) as Answer | undefined;
  if (given?.overallCode === undefined) {
    expect({ index, status: status === 200 ? body.overallCode : undefined }).toEqual({ index });
    return;
  }
  expect({ index, status, overallCode: body.overallCode }).toEqual({
    index,
    status: 200,
    overallCode: given.overallCode,
  });
  const explained = (body.descriptors ?? []).map(({ ifAsked, noLimit }) =>
    noLimit === undefined
      ? [ifAsked?.code, ifAsked?.remaining, ifAsked?.resetSeconds]
      : noLimit.reason === 'unlimited'
        ? ['OK', 4_294_967_295, undefined]
        : ['OK', 0, undefined],
  );
  const said = (given.statuses ?? []).map(({ code, limitRemaining = 0, durationUntilReset }) => [
    code,
    limitRemaining,
    durationUntilReset === undefined ? undefined : Number(durationUntilReset.replace('s', '')),
  ]);
  expect({ index, statuses: explained }).toEqual({ index, statuses: said });
}
