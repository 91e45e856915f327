import { toCheckPolicies, toDecisionOptions } from '../../../../src/app/compose/decisions';
import { readSettings } from '../../../../src/settings/settings';

const settingsOf = (body: string) => {
  const reading = readSettings({ LIMIT_BODY: body });
  if (!reading.ok) throw new Error('refused');
  return reading.settings;
};

it.each([
  ['off', undefined, false],
  ['problem', { problemBody: true, untypedBody: false }, true],
  ['untyped-problem', { problemBody: true, untypedBody: true }, true],
])(
  'with LIMIT_BODY=%s a body has its type from /check, where the answer is that of the client',
  (body, policies, hasBody) => {
    const settings = settingsOf(body);
    const { policies: ofEnvoy } = toDecisionOptions(settings);
    if (policies === undefined) expect(ofEnvoy).toBeUndefined();
    else expect(ofEnvoy).toMatchObject(policies);
    const ofCheck = toCheckPolicies(settings.responseHeaders);
    expect([ofCheck.problemBody, ofCheck.untypedBody]).toEqual([hasBody, undefined]);
  },
);
