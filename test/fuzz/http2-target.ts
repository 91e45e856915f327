import { checkOutput } from './check-output';
import { mutateSession } from './mutate';
import { planActions, playHttp2, SECOND_ANSWER, type Transcript } from './play-http2';
import type { Corpus } from './sessions';
import { everyCut, expectSame, someCuts, type Target } from './target';

const OPTIONS = [
  {},
  { maxConcurrentStreams: 5, streamWindowBytes: 200 },
  { headerTableBytes: 100, maxHeaderListBytes: 300 },
  { headerTableBytes: 0, connectionWindowBytes: 65_535 },
];
/** Shorter inputs are also read octet by octet; longer ones in steps. */
const OCTET_BY_OCTET = 3_000;

/** Whole connections: the same events and output however the octets are cut, and whether blocks are cached. */
export function createHttp2Target(corpus: Corpus): Target {
  return {
    name: 'http2',
    make: (random) => mutateSession(random, corpus),
    check(input, random) {
      const options = random.pick(OPTIONS);
      const actions = planActions(random, input.length);
      const whole = playHttp2(input, [], actions, options);
      checkOutput(input, whole.output);
      if (whole.output.includes(SECOND_ANSWER)) throw new Error('a stream is answered twice');
      const step = input.length > OCTET_BY_OCTET ? 97 : 1;
      const same = (what: string, other: Transcript) => {
        expectSame(`${what}, events`, other.told, whole.told);
        expectSame(`${what}, output`, other.output.toString('hex'), whole.output.toString('hex'));
        expectSame(`${what}, end`, endOf(other), endOf(whole));
      };
      same('cut', playHttp2(input, someCuts(random, input.length), actions, options));
      same('in small pieces', playHttp2(input, everyCut(input.length, step), actions, options));
      const uncached = { ...options, cacheHeaderBlocks: false };
      same('without a cache', playHttp2(input, [], actions, uncached));
    },
  };
}

function endOf({ connection }: Transcript): string {
  const { failure, wantsClose, requestCount, settingsAcked, peerLeaving } = connection;
  return JSON.stringify({ failure, wantsClose, requestCount, settingsAcked, peerLeaving });
}
