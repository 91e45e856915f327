import { Sparkline } from './sparkline.mjs';
import { durationText, element, rateText, setText, shareText } from './text.mjs';

/** Decisions that ended in an error, per second. */
export function erredOf({ serviceErrors, storeErrors, answeredLocally }) {
  return serviceErrors + storeErrors - answeredLocally;
}

/** Those, and decisions that nobody waited for. */
export function failedOf(figures) {
  return erredOf(figures) + figures.abandoned;
}

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
    title: 'Failed decisions',
    warns: true,
    read: failedTile,
  },
  {
    title: 'Over the limit',
    warns: true,
    read: ({ hits, globalShadow }) => refusedTile(hits, globalShadow),
  },
  {
    title: 'Response time',
    read: ({ response }) => timeTile(response, 'no calls over gRPC'),
  },
  {
    title: 'Store time',
    read: ({ store, breakerOpen }) =>
      timeTile(store, breakerOpen > 0 ? 'not called: circuit breaker open' : 'not called'),
  },
];

function failedTile(figures) {
  const { requests, answeredLocally, abandoned } = figures;
  const failed = failedOf(figures);
  const notes = [failed > 0 ? `${shareText(failed, requests)} of decisions` : 'none'];
  if (abandoned > 0) notes.push(`${rateText(abandoned)}/s whose callers gave up`);
  if (answeredLocally > 0) notes.push(`${rateText(answeredLocally)}/s answered without the store`);
  return [rateText(failed), '/s', notes.join(', '), failed];
}

/** Hits that were refused; those that rules in shadow let through are no refusals. */
function refusedTile([hits, near, over, shadow], globalShadow) {
  const refused = over - shadow;
  const notes = [hits > 0 ? `${shareText(refused, hits)} of hits refused` : 'no hits'];
  if (near > 0) notes.push(`${rateText(near)}/s near`);
  if (shadow > 0) notes.push(`${rateText(shadow)}/s let through by shadow rules`);
  if (globalShadow > 0) notes.push(`${rateText(globalShadow)} requests/s by SHADOW_MODE`);
  return [rateText(refused), 'hits/s', notes.join(', '), refused];
}

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
