import { Sparkline } from './sparkline.mjs';
import { durationText, element, numberText, rateText, setText } from './text.mjs';

const share = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

const percentText = (part, all) => (all > 0 ? `${share.format(part / all)} of hits` : 'no hits');

/** Each: what it is called, and what it says: figure, unit, note, and the value of its line. */
const TILES = [
  {
    title: 'Decisions',
    read: ({ requests, hits: [hits] }) => [
      rateText(requests),
      '/s',
      `${rateText(hits)} hits/s on rules`,
      requests,
    ],
  },
  {
    title: 'Over the limit',
    warns: true,
    read: ({ hits: [hits, near, over] }) => [
      rateText(over),
      '/s',
      `${percentText(over, hits)}, ${rateText(near)} near`,
      over,
    ],
  },
  {
    title: 'Response time',
    read: ({ response }) => timeTile(response, 'no calls over gRPC'),
  },
  {
    title: 'Store time',
    read: ({ store }) => timeTile(store, 'nothing asked'),
  },
  {
    title: 'Batch size',
    read: ({ batch }) =>
      batch === undefined
        ? ['–', '', 'no batches', 0]
        : [rateText(batch.mean), '', `largest ${numberText(batch.largest)}`, batch.mean],
  },
];

function timeTile(quantiles, none) {
  if (quantiles === undefined) return ['–', '', none, 0];
  const [figure, unit] = durationText(quantiles.p50);
  return [figure, unit, `median; p99 ${durationText(quantiles.p99).join(' ')}`, quantiles.p50];
}

export function createTiles(list) {
  const tiles = TILES.map(({ title, warns, read }) => {
    const figure = element('span', '', '–');
    const unit = element('small');
    const note = element('div', 'note', ' ');
    const line = new Sparkline(warns ? 'warn' : '');
    const dd = element('dd', '', figure, ' ', unit, note);
    list.append(element('div', 'tile', element('dt', '', title), dd, line.element));
    return { read, figure, unit, note, line };
  });
  return (figures) => {
    for (const { read, figure, unit, note, line } of tiles) {
      const [text, unitText, noteText, value] = read(figures);
      setText(figure, text);
      setText(unit, unitText);
      setText(note, noteText);
      line.push(value);
    }
  };
}
