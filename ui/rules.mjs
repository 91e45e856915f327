import { createDomainRow, createRuleRow } from './rule-rows.mjs';
import { element, numberText, setText } from './text.mjs';

const NOTHING = [0, 0, 0, 0];
/** Rules that are shown before somebody asks for all. */
const SHOWN_RULES = 50;
/** What a score keeps each second: the order follows the last seconds, not the last one. */
const KEPT = 0.8;
/** A score below this is of long ago. */
const STILL = 0.05;

/** What a level is sorted by; each takes [hits, near, over, shadow]. */
const ORDERS = {
  over: ([, , over]) => over,
  near: ([, near]) => near,
  hits: ([hits]) => hits,
};

/** A level with those below it. `scores` are of all of them. */
function createNode(view, parent, byId) {
  const depth = parent === undefined ? 0 : parent.depth + 1;
  const { rows, fold, text, show } =
    parent === undefined ? createDomainRow(view) : createRuleRow(view, depth);
  const node = { depth, rows, fold, text, show, scores: [...NOTHING], isFolded: false };
  const level = { key: view.key, value: view.value };
  node.path = parent === undefined ? [] : [...parent.path, level];
  const below = parent === undefined ? view.rules : view.children;
  node.children = below.map((child) => createNode(child, node, byId));
  if (view.limit !== undefined) {
    node.id = view.limit.id;
    byId.set(node.id, node);
  }
  return node;
}

function setFolded(node, isFolded) {
  node.isFolded = isFolded;
  node.fold?.setAttribute('aria-expanded', String(!isFolded));
}

function emptyRules(isLoaded) {
  const what = isLoaded ? 'The rules hold no domain: ' : 'No rules are loaded: ';
  return element(
    'p',
    'empty',
    `${what}put a YAML file with a domain and its descriptors into the folder of the rules, or see the log for its mistakes. This page updates by itself.`,
    element('code', '', 'RUNTIME_ROOT/RUNTIME_SUBDIRECTORY/config/*.yaml'),
  );
}

/** The tree of the rules with its figures. */
export function createRules({ table, note, filter, sort, moving, fold, more, controls }, root) {
  let byId = new Map();
  let domains = [];
  let isAllShown = false;
  let latest = { rules: [], domains: [], hot: [] };

  const ordered = (nodes) => {
    const read = ORDERS[sort.value];
    if (read === undefined) return nodes;
    return nodes
      .map((node, place) => ({ node, place, score: read(node.scores) }))
      .sort((a, b) => b.score - a.score || a.place - b.place)
      .map(({ node }) => node);
  };

  /** Decides which rows are seen; one that matches the filter is seen with all above and below it. */
  const arrange = () => {
    const wanted = filter.value.trim().toLowerCase();
    let room = isAllShown ? Infinity : SHOWN_RULES;
    let hidden = 0;
    const visit = (node, isIncluded, isFolded) => {
      const isFound = isIncluded || node.text.includes(wanted);
      const moves = node.scores[0] >= STILL;
      const isFull = room <= 0;
      const order = [node];
      node.isSeen = isFound && !isFolded && (moves || !moving.checked);
      if (node.isSeen && node.depth > 0 && room <= 0) {
        node.isSeen = false;
        hidden += 1;
      } else if (node.isSeen && node.depth > 0) room -= 1;
      const isClosed = isFolded || (node.isFolded && wanted === '');
      for (const child of ordered(node.children)) {
        order.push(...visit(child, isFound && wanted !== '', isClosed));
        // What matches keeps those above it.
        if (child.isSeen) node.isSeen = true;
      }
      if (isFull && node.depth === 0 && node.children.length > 0) node.isSeen = false;
      return order;
    };
    const bodies = ordered(domains);
    const orders = bodies.map((domain) => visit(domain, wanted === '', false));
    const isHeld = table.tBodies.length > 0 && table.matches(':focus-within, :hover');
    bodies.forEach((domain, i) => {
      if (!isHeld) placeAt(table, domain.body, i + 1 + Number(table.caption !== null));
      const rows = orders[i].flatMap(({ rows: own }) => own);
      if (!isHeld) rows.forEach((row, place) => placeAt(domain.body, row, place));
      for (const { rows: own, isSeen } of orders[i]) for (const row of own) row.hidden = !isSeen;
    });
    more.hidden = hidden === 0 && !isAllShown;
    setText(more, isAllShown ? 'Show fewer rules' : `Show ${numberText(hidden)} more rules`);
    const isFolded = domains.every((domain) => domain.isFolded);
    setText(fold, isFolded ? 'Unfold all' : 'Fold all');
  };

  const fill = () => {
    const { rules, domains: sums, hot } = latest;
    const moved = new Map(rules.map(([id, ...rates]) => [id, rates]));
    const hotById = Map.groupBy(hot, ({ rule }) => rule);
    for (const [id, node] of byId)
      node.show(refusals(moved.get(id)), hotById.get(id) ?? [], node.path, node.isSeen);
    const summed = new Map(sums.map(([place, ...rates]) => [place, rates]));
    domains.forEach((domain, place) => domain.show(refusals(summed.get(place))));
  };

  const redraw = () => {
    arrange();
    fill();
  };
  for (const control of [filter, sort, moving]) control.addEventListener('input', redraw);
  fold.addEventListener('click', () => {
    const isFolded = !domains.every((domain) => domain.isFolded);
    for (const domain of domains) setFolded(domain, isFolded);
    redraw();
  });
  more.addEventListener('click', () => {
    isAllShown = !isAllShown;
    redraw();
  });

  return {
    build({ domains: listed, unlisted, isLoaded }) {
      byId = new Map();
      for (const { body } of domains) body.remove();
      domains = listed.map((view) => createNode(view, undefined, byId));
      for (const domain of domains) domain.body = element('tbody');
      listenToFolds(domains, redraw);
      table.hidden = controls.hidden = domains.length === 0;
      note.replaceChildren();
      if (domains.length === 0) note.append(emptyRules(isLoaded));
      if (unlisted > 0) {
        const link = element('a', '', '/rlconfig');
        link.href = `${root}rlconfig`;
        const rest = `${numberText(unlisted)} more limits are counted in the sums above and listed at `;
        note.append(element('p', 'note', rest, link));
      }
      // Many rules: what moves comes first.
      if (byId.size > SHOWN_RULES && sort.value === 'file') sort.value = 'hits';
      redraw();
    },
    /** The levels above a limit and its own; undefined where it is not listed. */
    pathOf: (id) => byId.get(id)?.path,
    show(figures) {
      latest = figures;
      const moved = new Map(figures.rules.map(([id, ...rates]) => [id, rates]));
      for (const domain of domains) score(domain, moved);
      redraw();
    },
  };
}

/** Hits over a limit that were refused: without those that rules in shadow let through. */
function refusals(rates = NOTHING) {
  const [hits, near, over, shadow] = rates;
  return [hits, near, over - shadow, shadow];
}

function score(node, moved) {
  const own = moved.get(node.id) ?? NOTHING;
  for (const child of node.children) score(child, moved);
  node.own = (node.own ?? NOTHING).map((sum, i) => sum * KEPT + own[i]);
  node.scores = node.own.map((sum, i) =>
    node.children.reduce((all, child) => all + child.scores[i], sum),
  );
}

function listenToFolds(nodes, redraw) {
  for (const node of nodes) {
    node.fold?.addEventListener('click', () => {
      setFolded(node, !node.isFolded);
      redraw();
    });
    listenToFolds(node.children, redraw);
  }
}

function placeAt(box, child, place) {
  const there = box.children[place];
  if (there !== child) box.insertBefore(child, there ?? null);
}
