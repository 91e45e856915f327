import { createBar } from './hot-keys.mjs';
import { createLines } from './lines.mjs';
import { element, numberText, rateText, setText, shareText } from './text.mjs';

function restartsText(restarts) {
  if (restarts === 0) return 'no restarts';
  return `${numberText(restarts)} ${restarts === 1 ? 'restart' : 'restarts'}`;
}

function stateText({ isUp, busy }) {
  if (!isUp) return 'not running';
  return busy === undefined ? 'starting' : `${shareText(busy, 1)} busy`;
}

function createWorker() {
  const name = element('span');
  const rate = element('span', 'rate');
  const state = element('span', 'count');
  const { bar, show } = createBar();
  return {
    element: element('li', '', name, rate, bar, state),
    show(worker) {
      setText(name, `Worker ${worker.worker}`);
      setText(rate, `${rateText(worker.requests)} calls/s`);
      show({ value: worker.busy, limit: 1, isOver: false });
      setText(state, `${stateText(worker)}, ${restartsText(worker.restarts)}`);
    },
  };
}

/** Each of several workers; nothing where one process decides. */
export function createWorkers(section, list) {
  const show = createLines(list, createWorker);
  return ({ workers = [] }) => {
    section.hidden = workers.length === 0;
    show(workers.map((worker) => [worker.worker, worker]));
  };
}
