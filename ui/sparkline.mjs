const POINTS = 60;
const SVG = 'http://www.w3.org/2000/svg';

/** The last minute of a figure as a small line; decoration beside the figure itself. */
export class Sparkline {
  #values = [];

  constructor(className = '') {
    this.element = document.createElementNS(SVG, 'svg');
    this.element.setAttribute('class', `spark ${className}`);
    this.element.setAttribute('viewBox', `0 0 ${POINTS - 1} 20`);
    this.element.setAttribute('preserveAspectRatio', 'none');
    this.element.setAttribute('aria-hidden', 'true');
    this.area = this.#path('area');
    this.edge = this.#path('edge');
  }

  /** Adds a value; the line is drawn anew where it is seen. */
  push(value, isSeen = true) {
    this.#values.push(value);
    if (this.#values.length > POINTS) this.#values.shift();
    if (!isSeen) return;
    const top = Math.max(...this.#values);
    const from = POINTS - this.#values.length;
    const isFlat = top <= 0 || this.#values.length < 2;
    const points = this.#values.map(
      (one, i) => `${from + i},${(18.5 - (one / top) * 15).toFixed(2)}`,
    );
    this.edge.setAttribute('d', isFlat ? '' : `M${points.join('L')}`);
    this.area.setAttribute('d', isFlat ? '' : `M${from},20L${points.join('L')}L${POINTS - 1},20Z`);
  }

  #path(name) {
    const path = document.createElementNS(SVG, 'path');
    path.setAttribute('class', name);
    this.element.append(path);
    return path;
  }
}
