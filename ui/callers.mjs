import { meanOf } from './last-seconds.mjs';
import { durationText, shareText, timeText } from './text.mjs';

/** A caller that goes away now and then is one whose own client hung up. */
const MOST_SHARE = 0.1;

/** Whether callers go away before their answers, and how long these take: nothing else says that limits do not hold. */
export function createCallerTroubles() {
  let noticed;
  return (seconds, { nowSeconds, troubles }) => {
    const logged = troubles.find(({ name }) => name === 'callers');
    const requests = meanOf(seconds, (one) => one.requests);
    const gone = meanOf(seconds, (one) => one.abandoned);
    if (logged === undefined && !(gone > requests * MOST_SHARE)) {
      noticed = undefined;
      return [];
    }
    noticed ??= nowSeconds;
    const start = logged === undefined ? noticed : nowSeconds - logged.lastedMs / 1_000;
    const since = timeText(Math.min(start, noticed), nowSeconds);
    const details = ['The proxy lets these requests pass, or refuses them, without a limit'];
    return [{ name: 'callers', text: callersText(seconds, requests, gone), since, details }];
  };
}

function callersText(seconds, requests, gone) {
  if (requests === 0) return 'Callers gave up; there were none in the last seconds';
  const share = `${shareText(gone, requests)} of callers gave up`;
  const ofStore = seconds.findLast(({ store }) => store !== undefined)?.store;
  if (ofStore !== undefined) return `${share}; the store answers in ${timeOf(ofStore)}`;
  const own = seconds.findLast(({ response }) => response !== undefined)?.response;
  return own === undefined ? share : `${share}; answers take ${timeOf(own)}`;
}

function timeOf({ p50 }) {
  return durationText(p50).join(' ');
}
