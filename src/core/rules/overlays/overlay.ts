import type { Located } from '../../../fields/located';
import type { Place } from '../../../fields/problem';

/** Fields that the rules of certain descriptors get in addition (docs/rules/overlays.md). Plain data. */
export interface Overlay {
  readonly file: string;
  readonly at: Place;
  /** Each `*` in it matches zero or more characters. */
  readonly domain: string;
  /** One step for each level of descriptors, from the first one on. */
  readonly path: readonly PathStep[];
  /** `replace: true`: its fields take the place of those that a rule has. */
  readonly isReplacing: boolean;
  readonly fields: readonly OverlayField[];
}

/** The descriptors of one level; each `*` matches zero or more characters. */
export interface PathStep {
  /** Undefined: any key. */
  readonly key: string | undefined;
  /** As it is written in the rule; undefined: any value, and none. */
  readonly value: string | undefined;
}

export interface OverlayField {
  /** The map that gets it. */
  readonly holder: 'rate_limit' | 'descriptor';
  readonly name: string;
  readonly node: Located;
}

/** All overlays in force. */
export interface OverlaySet {
  /** A list of `Overlay` as JSON: a thread takes a text in a tenth of the time that it takes for objects. */
  readonly text: string;
  /** A hash of their files. */
  readonly digest: string;
}

/** What a rule has from one overlay; read only by explanations. */
export interface OverlaidFields {
  readonly file: string;
  readonly at: Place;
  readonly names: readonly string[];
}

/** Where an overlay is written: `overlays.yaml:3`. */
export function overlayText({ file, at }: Pick<Overlay, 'file' | 'at'>): string {
  return 'line' in at ? `${file}:${String(at.line)}` : file;
}

/** For people: `algorithm, burst by the overlay at overlays.yaml:3`. */
export function overlaidText({ names, ...overlay }: OverlaidFields): string {
  return `${names.join(', ')} by the overlay at ${overlayText(overlay)}`;
}
